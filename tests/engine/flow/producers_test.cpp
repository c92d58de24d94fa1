// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/producers.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/clock.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/steps.hpp"

namespace penstock {
namespace {

using std::chrono::milliseconds;

/// A source of one tile that takes its time for it, while the other of two producers wants to ask, too.
struct ASourceThatTakesItsTime : testing::Test, Source, Ranges {
  static constexpr milliseconds time{20};

  bool next(Tile&) override {
    if (asked++ > 0) return false;
    began = Clock::now();
    while (with_a_tile < 2) std::this_thread::yield();
    for (auto const both = Clock::now(); Clock::now() - both < time;) std::this_thread::yield();
    return true;
  }
  std::size_t fill(Tile&) override {
    while (asked < 2) std::this_thread::yield();  // The other one is the next to ask.
    took = Clock::now() - began;
    return 1;
  }
  void begin(Step, std::optional<std::uint64_t>) noexcept override {}
  void end(Step step) noexcept override {
    if (step == Step::borrow) ++with_a_tile;
  }
  /// Time of the source in a run's report that it did not take.
  std::chrono::nanoseconds excess() {
    asked = 0;
    with_a_tile = 0;
    Stages const nothing = on_device([](DeviceTile const&, StreamRef) { return std::size_t{0}; });
    Report const report = pipeline.run(*this, nothing, [](Completion&) {});
    EXPECT_EQ(report.tiles(), 1u);
    return report.fill - took;
  }

  cpu::CpuDevice device{{.compute_threads = 1}};
  Pipeline pipeline{
      device,
      {.tile = {.input_bytes = 64}, .producers = 2, .lanes = 1, .tuning = {.tiles = 4}, .watching = {.ranges = this}}};
  std::atomic<unsigned> asked{0}, with_a_tile{0};
  Clock::time_point began;
  std::chrono::nanoseconds took{};
};

/// A producer that loses its CPU within the source's time has that counted, so a run on a busy machine is repeated.
///
/// Seen to fail if the time begins before the wait.
TEST_F(ASourceThatTakesItsTime, IsNotChargedForProducersThatWaitForEachOther) {
  std::chrono::nanoseconds least = excess();
  for (int run = 1; run < 50 && least >= time / 2; ++run) least = std::min(least, excess());
  EXPECT_LT(least, time / 2);
}

}  // namespace
}  // namespace penstock
