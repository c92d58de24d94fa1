// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "programs/measure/sweep.hpp"

namespace penstock::measure {
namespace {

/// A job whose input has so many tiles, each with so many bytes.
struct AJobWithASmallInput : testing::Test {
  cpu::CpuDevice device{{.compute_threads = 1}};
  std::uint64_t tiles = 1;
  std::size_t bytes = 0;
  Job job{.make = [this](JobPoint const&) {
    auto const fill = [this](TilePlace, std::span<std::byte>) { return bytes; };
    return JobWork{
        .source = [this, fill](
                      Pool const&) { return std::make_unique<decltype(generate(tiles, fill))>(generate(tiles, fill)); },
        .stages = on_device([](DeviceTile const&, StreamRef) {}),
        .sink = {}};
  }};
  SweepOptions options{.trial = {.warm_up = std::chrono::milliseconds(1), .window = std::chrono::milliseconds(5)},
                       .least_repeats = 1,
                       .most_repeats = 1,
                       .load = 0,
                       .ceilings = false};

  PointResult result() {
    std::vector<Point> points;
    points.push_back({.setting = {.pipeline = {.producers = 1, .lanes = 1}, .tile = 4096, .job = &job}});
    return sweep(device, std::move(points), options, {}).at(0);
  }
};

TEST_F(AJobWithASmallInput, FailsIfItIsEmpty) {
  EXPECT_EQ(result().error, "No tile had a byte in it: is the input empty?");
  tiles = 0;
  EXPECT_EQ(result().error, "No tile came through in the time there was.");
}

/// Seen to fail with a latency of tiles that hold nothing.
TEST_F(AJobWithASmallInput, HasNoLatencyIfItIsEmpty) {
  Setting const setting{.pipeline = {.producers = 1, .lanes = 1}, .tile = 4096, .job = &job};
  auto const problem = [&] {
    try {
      run_open_loop(device, setting, 1000, options.trial, {});
    } catch (Error const& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(problem(), "No tile had a byte in it: is the input empty?");
  tiles = 0;
  EXPECT_EQ(problem(), nothing_came);
  tiles = 1;
  bytes = 5;
  EXPECT_EQ(problem(), "");
}

TEST_F(AJobWithASmallInput, SaysSoIfItsTilesAreNextToEmpty) {
  bytes = 5;
  PointResult const small = result();
  EXPECT_EQ(small.error, "");
  ASSERT_EQ(small.remarks.size(), 1u);
  EXPECT_EQ(small.remarks[0],
            "A tile of 4 KiB held 5 B on average, so GB/s says little: take a larger input, or smaller tiles.");
  bytes = 64;
  EXPECT_TRUE(result().remarks.empty());
}

}  // namespace
}  // namespace penstock::measure
