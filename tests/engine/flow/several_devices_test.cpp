// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/gate.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "models/faults.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// Two CPU devices under one pipeline of two lanes. Each test ends with every tile home and nothing lent.
struct TwoDevices : testing::Test {
  cpu::FaultyCpuDevice first{{.ordinal = 0, .compute_threads = 1}};
  cpu::FaultyCpuDevice second{{.ordinal = 1, .compute_threads = 1}};
  std::optional<Pipeline> pipeline{std::in_place, std::vector<Device*>{&first, &second},
                                   PipelineOptions{.tile = {.input_bytes = 64, .output_bytes = 64, .in_place = true},
                                                   .producers = 1,
                                                   .lanes = 2,
                                                   .consumers = 1,
                                                   .tuning = {.tiles = 8, .slots = 2}}};
  std::atomic<std::uint64_t> on_first{0}, on_second{0};

  /// Counts the tiles of each device.
  Stages counted() {
    return {.make =
                [this](StageContext const& context) {
                  struct Counting final : Stage {
                    explicit Counting(std::atomic<std::uint64_t>& own) : count(own) {}
                    std::size_t run(DeviceTile const& tile, StreamRef stream) override {
                      count.fetch_add(1);
                      stream.launch(1, [](std::uint32_t) {});
                      return tile.input.size();
                    }
                    std::atomic<std::uint64_t>& count;
                  };
                  return std::make_unique<Counting>(&context.device == &first ? on_first : on_second);
                },
            .merge = {}};
  }
  void TearDown() override {
    EXPECT_EQ(pipeline->pool().on_loan(), 0u) << "a tile never came home";
    pipeline.reset();
    EXPECT_EQ(first.outstanding(), cpu::Outstanding{});
    EXPECT_EQ(second.outstanding(), cpu::Outstanding{});
  }
};

TEST_F(TwoDevices, ShareTheWork) {
  int left = 500;
  Report const report = pipeline->run(serial([&](Tile&) -> std::optional<std::size_t> {
                                        if (left-- == 0) return std::nullopt;
                                        return 64;
                                      }),
                                      counted(), [](Completion&) {});
  EXPECT_EQ(report.tiles_done, 500u) << describe(report);
  EXPECT_EQ(on_first + on_second, 500u);
  EXPECT_GT(on_first, 0u);
  EXPECT_GT(on_second, 0u);
}

TEST_F(TwoDevices, BothHaveTheTilesPinned) {
  EXPECT_EQ(first.outstanding().pins, 1u);
  EXPECT_EQ(second.outstanding().pins, 1u);
}

TEST_F(TwoDevices, GoOnWithOneWhenTheOtherIsLost) {
  second.inject(cpu::Fault::break_kernel, 20);
  std::uint64_t read = 0, failed = 0;
  Report const report = pipeline->run(serial([&](Tile&) -> std::optional<std::size_t> {
                                        // The lanes decide how many tiles each gets, but the kernel that breaks
                                        // is certain to come.
                                        if (read >= 500 && on_second >= 20) return std::nullopt;
                                        ++read;
                                        return 64;
                                      }),
                                      counted(), [&](Completion& completion) { failed += completion.ok() ? 0U : 1U; });
  EXPECT_EQ(report.tiles(), read) << "the input is read to its end";
  EXPECT_EQ(report.tiles_failed, failed);
  EXPECT_GT(failed, 0u);
  EXPECT_LE(failed, 8u) << "what the lost device held, and what was on its way to it";
  ASSERT_TRUE(report.first_failure);
  EXPECT_EQ(report.first_failure->failure.kind, ErrorKind::device_lost);
  EXPECT_FALSE(report.stopped);
  ASSERT_EQ(report.devices.size(), 2u);
  EXPECT_EQ(report.devices[0].name, "cpu:0");
  EXPECT_EQ(report.devices[0].tiles, report.tiles_done - report.devices[1].tiles);
  EXPECT_EQ(report.devices[0].failed, 0u);
  EXPECT_EQ(report.devices[0].loss, "");
  EXPECT_EQ(report.devices[1].name, "cpu:1");
  EXPECT_EQ(report.devices[1].lanes, 1u);
  EXPECT_EQ(report.devices[1].failed, failed);
  EXPECT_NE(report.devices[1].loss, "");
  EXPECT_THAT(describe(report),
              HasSubstr("\ncpu:1 was lost, and " + std::to_string(failed) + " of its tiles failed: "));
  EXPECT_THAT(describe(report), HasSubstr("\nThe other device went on."));
}

TEST_F(TwoDevices, AreEachReportedThoughNothingWentWrong) {
  int left = 20;
  Report const report = pipeline->run(serial([&](Tile&) -> std::optional<std::size_t> {
                                        if (left-- == 0) return std::nullopt;
                                        return 64;
                                      }),
                                      counted(), [](Completion&) {});
  ASSERT_EQ(report.devices.size(), 2u);
  EXPECT_EQ(report.devices[0].tiles, on_first);
  EXPECT_EQ(report.devices[1].tiles, on_second);
  EXPECT_EQ(lost_devices(report), "");
}

/// A device without a lane would be idle unnoticed.
TEST_F(TwoDevices, HaveALaneEachHoweverFewAreAskedFor) {
  Pipeline few({&first, &second}, {.tile = {.input_bytes = 64}, .lanes = 1, .tuning = {.tiles = 8}});
  EXPECT_EQ(few.options().lanes, 2u);
  few.start(counted(), [](Completion&) {});
  EXPECT_THAT(few.drain().remarks, Contains("There are 2 lanes and not 1, one for each device."));
}

}  // namespace
}  // namespace penstock
