// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tools/lab/crew.hpp"
#include "tools/lab/experiments.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr unsigned threads = 8;

/// A kernel by each of eight host threads, in what `default_stream` says is its default stream; by their starts.
std::vector<Interval> kernel_of_each_thread(Workbench& bench, StreamRef (*default_stream)(Device&)) {
  Crew crew(bench.device(), threads);
  crew.each([&](unsigned i) {
    std::string const number = std::to_string(i + 1);
    bench.kernel("thread " + number, number, default_stream(bench.device()));
  });
  // Before the threads end, since nothing says what becomes of a thread's default stream then.
  auto intervals = bench.intervals();
  std::sort(intervals.begin(), intervals.end(),
            [](auto const& one, auto const& other) { return one.start < other.start; });
  return intervals;
}

void sort_by_row(std::vector<Interval>& intervals) {
  std::sort(intervals.begin(), intervals.end(), [](auto const& one, auto const& other) { return one.row < other.row; });
}

}  // namespace

Experiment threads_legacy() {
  return {.name = "threads-legacy",
          .expectation =
              "Kernels of eight host threads run one after another, if each thread launches in the legacy "
              "default stream.",
          .why = "Threads alone bring no concurrency to a program that is compiled the legacy way and names no stream.",
          .claim = Claim::must,
          .run = [](Workbench& bench) -> Observation {
            auto intervals =
                kernel_of_each_thread(bench, [](Device& device) { return device.legacy_default_stream(); });
            auto verdict = one_after_another(intervals);
            sort_by_row(intervals);
            return {std::move(intervals), {}, std::move(verdict)};
          }};
}

Experiment threads_per_thread() {
  return {
      .name = "threads-per-thread",
      .expectation = "Kernels of eight host threads run at once, if each thread launches in its own default stream.",
      .why = "Compiled per-thread, code that names no stream is concurrent as soon as it runs in several threads.",
      .claim = Claim::may,
      .run = [](Workbench& bench) -> Observation {
        auto intervals =
            kernel_of_each_thread(bench, [](Device& device) { return device.per_thread_default_stream(); });
        auto verdict = all_at_once(intervals);
        sort_by_row(intervals);
        return {std::move(intervals), {}, std::move(verdict)};
      }};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
