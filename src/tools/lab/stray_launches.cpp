// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tools/lab/experiments.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr unsigned streams = 8;
constexpr auto stray_row = "stream 0";

/// A kernel in each of eight blocking streams, and after each a short one in `stray`: in the order of their giving.
std::vector<Interval> kernels_and_strays(Workbench& bench, StreamRef stray) {
  std::vector<Stream> own;
  for (unsigned i = 0; i < streams; ++i) own.push_back(bench.device().make_stream({.blocking = true}));
  for (unsigned i = 0; i < streams; ++i) {
    std::string const number = std::to_string(i + 1);
    bench.kernel("stream " + number, number, own[i]);
    bench.kernel(stray_row, "stray " + number, stray, 0);
  }
  return bench.intervals();
}

/// The strays come last.
auto strays_of(std::vector<Interval>& intervals) {
  return std::stable_partition(intervals.begin(), intervals.end(),
                               [](auto const& one) { return one.row != stray_row; });
}

}  // namespace

Experiment stray_legacy() {
  return {.name = "stray-legacy",
          .expectation =
              "Of eight kernels in eight blocking streams no two run at once, if a short one is launched in "
              "the legacy default stream after each.",
          .why = "A stray launch costs all concurrency, however short it is: compile per-thread, or name a stream.",
          .claim = Claim::must,
          .run = [](Workbench& bench) -> Observation {
            auto intervals = kernels_and_strays(bench, bench.device().legacy_default_stream());
            auto verdict = one_after_another(intervals);
            strays_of(intervals);
            return {std::move(intervals), {}, std::move(verdict)};
          }};
}

Experiment stray_per_thread() {
  return {.name = "stray-per-thread",
          .expectation = "All eight run at once, if the short ones are launched in the thread's own default stream.",
          .why = "Compiled per-thread, the same source keeps its streams apart.",
          .claim = Claim::may,
          .run = [](Workbench& bench) -> Observation {
            auto intervals = kernels_and_strays(bench, bench.device().per_thread_default_stream());
            auto const strays = strays_of(intervals);
            auto verdict = all_at_once({intervals.begin(), strays});
            return {std::move(intervals), {}, std::move(verdict)};
          }};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
