// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/experiments.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// A kernel each in a stream, in the legacy default stream, and in another stream, given to the device in this order.
std::vector<Interval> trio(Workbench& bench, bool blocking) {
  Stream const one = bench.device().make_stream({.blocking = blocking});
  Stream const other = bench.device().make_stream({.blocking = blocking});
  bench.kernel("stream A", "A", one);
  bench.kernel("stream 0", "0", bench.device().legacy_default_stream());
  bench.kernel("stream B", "B", other);
  return bench.intervals();
}

}  // namespace

Experiment legacy_between() {
  return {.name = "legacy-between",
          .expectation =
              "A kernel in the legacy default stream waits for the one given before it to a blocking "
              "stream, and lets one given after it to another blocking stream wait in turn.",
          .why =
              "One launch that names no stream, in code compiled the legacy way, takes turns with all blocking "
              "streams of the process.",
          .claim = Claim::must,
          .run = [](Workbench& bench) -> Observation {
            auto intervals = trio(bench, true);
            auto verdict = one_after_another(intervals);
            return {std::move(intervals), {}, std::move(verdict)};
          }};
}

Experiment legacy_beside() {
  return {.name = "legacy-beside",
          .expectation = "Kernels in two non-blocking streams run beside the one in the legacy default stream.",
          .why =
              "Code that uses stream 0 does not hold up a non-blocking stream, so penstock's own streams are of "
              "that kind.",
          .claim = Claim::may,
          .run = [](Workbench& bench) -> Observation {
            auto intervals = trio(bench, false);
            auto verdict = all_at_once(intervals);
            return {std::move(intervals), {}, std::move(verdict)};
          }};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
