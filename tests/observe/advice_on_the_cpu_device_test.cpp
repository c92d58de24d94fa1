// SPDX-License-Identifier: Apache-2.0
// A pipeline on the CPU device for each bound that does not depend on how many CPUs are left, and what following its
// advice gains. Seen to fail with options that promise half of this.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>

#include "observe/followed_advice.hpp"

namespace penstock {
namespace {

using namespace std::chrono_literals;

/// Parts wait for milliseconds.
struct AFollowedCpuDevice : AFollowedPipeline {
  static constexpr auto part = 4ms;
  AFollowedCpuDevice() { tiles = 80; }
  std::unique_ptr<cpu::CpuDevice> device() const override {
    return std::make_unique<cpu::CpuDevice>(cpu::CpuOptions{.compute_threads = 2});
  }
  void compute(StreamRef stream) const override {
    stream.launch(1, [time = kernel](std::uint32_t) { take(time); });
  }
  /// Other processes may delay what waits, some parts more than others.
  std::string disturbed(Report const& report) const override {
    auto const of_all = std::chrono::duration<double>(report.wall).count() * std::max(report.cpus, 1U);
    double const others = std::chrono::duration<double>(report.cpu_of_others).count() / of_all;
    return others < 0.1 ? "" : "Other processes took " + std::to_string(std::lround(100 * others)) + " % of the CPUs.";
  }
};

TEST_F(AFollowedCpuDevice, GainsByASecondProducerWhereTheOnlyOneFills) {
  options.producers = 1;
  fill = part;
  expect_advice_to_hold(Bound::fill, "--producers 2");
}

TEST_F(AFollowedCpuDevice, GainsByASecondCallOfASlowSink) {
  sink = part;
  expect_advice_to_hold(Bound::sink, "--consumers 2");
}

TEST_F(AFollowedCpuDevice, GainsByMoreTilesWherePartsAlternate) {
  options.tuning.tiles = 2;
  options.producers = 1;
  fill = kernel = sink = part;
  expect_advice_to_hold(Bound::too_few_tiles, "--tiles ");
}

TEST_F(AFollowedCpuDevice, GainsByASecondLaneWhereTheOnlyOneRunsKernelsOneByOne) {
  kernel = part;
  alone.kernel = 2 / std::chrono::duration<double>(part).count();
  expect_advice_to_hold(Bound::serialising_stream, "--lanes 2");
}

TEST_F(AFollowedCpuDevice, GainsByAKernelOfHalfTheTime) {
  kernel = part;
  expect_advice_to_hold(Bound::kernel, "a kernel that takes half the time");
}

}  // namespace
}  // namespace penstock
