// SPDX-License-Identifier: Apache-2.0
// Experiment: what CUDA_LAUNCH_BLOCKING=1 does to launches.
#include <array>
#include <string>
#include <vector>

#include "course/experiment.hpp"
#include "course/gain.hpp"
#include "course/held_stream.hpp"
#include "course/judgements.hpp"
#include "course/workbench.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr std::size_t launches = 2;

Observation launch_in_two_streams(Workbench& bench) {
  // The driver has read it when the device was opened, and a CPU device reads it for each stream.
  BlockingSeen seen{.wanted = launches_block()};
  std::array<Stream, launches> const streams{bench.device().make_stream(), bench.device().make_stream()};
  std::array<std::string, launches> const names{"A", "B"};
  std::vector<Figure> figures;
  for (std::size_t i = 0; i < launches; ++i) {
    auto const called = HostClock::now();
    bench.kernel("stream " + names[i], names[i], streams[i]);
    auto const returned = HostClock::now();
    bool const over = streams[i].idle();
    seen.over += over ? 1U : 0U;
    bench.note("host", "launch " + names[i], called, returned);
    figures.push_back({.what = "launch " + names[i],
                       .value = milliseconds(returned - called),
                       .unit = "ms",
                       .beside = {{"kernel over", over ? "yes" : "no"}},
                       .heading = "host kept"});
  }
  bench.device().synchronize();
  auto intervals = bench.intervals();
  // Kernels and notes of the host alternate.
  std::vector<Interval> const kernels{intervals[0], intervals[2]};
  seen.together = all_at_once(kernels).as_expected;
  return {std::move(intervals), std::move(figures), verdict_on_blocking(seen)};
}

}  // namespace

Experiment launch_blocking() {
  return {.name = "launch-blocking",
          .expectation =
              "A launch returns before its kernel is over, so kernels of two streams run at once. In a process whose "
              "environment has CUDA_LAUNCH_BLOCKING=1 each launch waits for its kernel, and they cannot.",
          .why =
              "It makes the launch that fails report its error itself, and costs all concurrency: use it to look for "
              "that launch, and never in production. The CPU device and its models read the same variable.",
          .claim = Claim::may,
          .run = launch_in_two_streams};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
