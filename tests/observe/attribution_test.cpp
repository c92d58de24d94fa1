// SPDX-License-Identifier: Apache-2.0
// Tests which tile lost a device: each starts itself again by its filter, and its process ends where the pipeline runs.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "models/faults.hpp"
#include "observe/replay.hpp"
#include "penstock/observe.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Eight tiles, all in flight when the first kernel may run. Every test must leave with all of them home.
struct EightTilesInFlight : testing::Test {
  static constexpr std::size_t tile_bytes = 640;
  static constexpr std::size_t more_bytes = 24;
  static constexpr std::uint64_t tiles = 8;
  std::optional<cpu::FaultyCpuDevice> device{cpu::CpuOptions{.compute_threads = 1}};
  PipelineOptions options{.tile = {.input_bytes = tile_bytes, .output_bytes = 8, .more_input_bytes = {more_bytes}},
                          .producers = 1,
                          .lanes = 1,
                          .consumers = 1,
                          .tuning = {.tiles = tiles, .batch = 1, .slots = tiles, .transport = Transport::copies},
                          .watching = {.hooks = {attribution()}}};
  /// No tile waits for others in a process that runs tiles again.
  bool const again = std::getenv(replay_variable) != nullptr;
  std::atomic<bool> all_there{again};
  std::uint64_t left = tiles;

  EightTilesInFlight() {
    auto const* const test = testing::UnitTest::GetInstance()->current_test_info();
    options.watching.hooks = {
        attribution({"/proc/self/exe", std::string("--gtest_filter=") + test->test_suite_name() + "." + test->name()})};
  }
  static std::byte content(std::uint64_t sequence, std::size_t at) {
    return static_cast<std::byte>(sequence * 31 + at * 7 + 1);
  }
  static void expect_content(DeviceSpan<std::byte> part, std::uint64_t sequence) {
    if (part.size() == 0) throw Error(ErrorKind::system, "It has no bytes.");
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part.address()[i] != content(sequence, i)) throw Error(ErrorKind::system, "It has other bytes.");
    }
  }
  /// The first tile's kernel waits until the lane has them all. `before` is called before the kernel of each is
  /// launched, which fails a tile that has not its content.
  template <class Before>
  Report run(Before before) {
    Pipeline pipeline(*device, options);
    auto const stage = on_device([&](DeviceTile const& tile, StreamRef stream) -> std::size_t {
      before(tile);
      stream.launch(1, [this, tile](std::uint32_t) {
        all_there.wait(false);
        expect_content(tile.input, tile.sequence);
        expect_content(tile.more_inputs[0], tile.sequence + 1000);
        if (tile.tag != tile.sequence + 100) throw Error(ErrorKind::system, "It has another tag.");
      });
      if (tile.sequence + 1 == tiles) {
        all_there = true;
        all_there.notify_all();
      }
      return 8;
    });
    auto const fill = [this](Tile& tile) -> std::optional<std::size_t> {
      if (left-- == 0) return std::nullopt;
      std::size_t const filled = tile_bytes - tile.sequence;
      for (std::size_t i = 0; i < filled; ++i) tile.input()[i] = content(tile.sequence, i);
      for (std::size_t i = 0; i < more_bytes; ++i) tile.input(1)[i] = content(tile.sequence + 1000, i);
      tile.more_filled[0] = more_bytes;
      tile.tag = tile.sequence + 100;
      return filled;
    };
    Report report = pipeline.run(serial(fill), stage, [](Completion&) {});
    EXPECT_EQ(pipeline.pool().on_loan(), 0U) << "a tile never came home";
    return report;
  }
  auto breaking(std::uint64_t sequence) {
    return [this, sequence](DeviceTile const& tile) {
      if (tile.sequence == sequence) device->inject(cpu::Fault::break_kernel, 1);
    };
  }
  static std::vector<std::uint64_t> behind(std::uint64_t sequence) {
    std::vector<std::uint64_t> all(tiles - sequence - 1);
    std::iota(all.begin(), all.end(), sequence + 1);
    return all;
  }
};

TEST_F(EightTilesInFlight, AreAllInnocentButTheOneThatFailsByItself) {
  Report const report = run(breaking(5));
  ASSERT_NE(report.attribution, nullptr) << describe(report);
  Attribution const& found = *report.attribution;
  ASSERT_EQ(found.culprits.size(), 1U) << describe(found);
  EXPECT_EQ(found.culprits[0].sequence, 5U);
  EXPECT_EQ(found.culprits[0].tag, 105U);
  EXPECT_EQ(found.culprits[0].failure.stage, "stage");
  EXPECT_THAT(found.innocent, testing::IsSupersetOf(behind(5))) << describe(found);
  EXPECT_EQ(found.innocent.size() + 1, report.tiles_failed);
  EXPECT_THAT(found.not_tried, IsEmpty());
  EXPECT_EQ(found.remark, "");
  EXPECT_THAT(describe(report), HasSubstr("\ntile 5 fails by itself, at stage: "));
  EXPECT_THAT(describe(report), HasSubstr(" innocent: "));
}

TEST_F(EightTilesInFlight, MayHaveSeveralThatFail) {
  Report const report = run([&](DeviceTile const& tile) {
    if (tile.sequence == 2 || tile.sequence == 6) device->inject(cpu::Fault::break_kernel, 1);
  });
  ASSERT_NE(report.attribution, nullptr) << describe(report);
  std::vector<std::uint64_t> found;
  for (auto const& culprit : report.attribution->culprits) found.push_back(culprit.sequence);
  EXPECT_THAT(found, ElementsAre(2, 6)) << describe(report);
  EXPECT_THAT(report.attribution->innocent, testing::IsSupersetOf({3, 4, 5, 7}));
}

TEST_F(EightTilesInFlight, AreAllInnocentOfAFaultThatDoesNotComeAgain) {
  Report const report = run([&](DeviceTile const& tile) {
    if (!again && tile.sequence == 3) device->inject(cpu::Fault::break_kernel, 1);
  });
  ASSERT_NE(report.attribution, nullptr) << describe(report);
  EXPECT_THAT(report.attribution->culprits, IsEmpty());
  EXPECT_EQ(report.attribution->innocent.size(), report.tiles_failed);
  EXPECT_THAT(describe(report), HasSubstr("\nNo tile fails by itself: the fault does not happen each time"));
}

TEST_F(EightTilesInFlight, NameTheStepAtWhichOneFails) {
  // The copies of the tiles before are through by then.
  Report const report = run([&](DeviceTile const& tile) {
    if (tile.sequence == 4) device->inject(cpu::Fault::break_download, 1);
  });
  ASSERT_NE(report.attribution, nullptr) << describe(report);
  ASSERT_EQ(report.attribution->culprits.size(), 1U) << describe(report);
  EXPECT_EQ(report.attribution->culprits[0].sequence, 4U);
  EXPECT_EQ(report.attribution->culprits[0].failure.stage, "download");
}

TEST_F(EightTilesInFlight, NameOneThatEndsItsProcess) {
  Report const report = run([&](DeviceTile const& tile) {
    if (tile.sequence != 1) return;
    if (again) std::_Exit(9);
    device->inject(cpu::Fault::break_kernel, 1);
  });
  ASSERT_NE(report.attribution, nullptr) << describe(report);
  ASSERT_EQ(report.attribution->culprits.size(), 1U) << describe(report);
  EXPECT_EQ(report.attribution->culprits[0].sequence, 1U);
  EXPECT_THAT(report.attribution->culprits[0].failure.reason, HasSubstr("exit code 9"));
  EXPECT_THAT(report.attribution->innocent, testing::IsSupersetOf(behind(1)));
}

TEST_F(EightTilesInFlight, AreNotTriedByAProgramThatDoesNotComeToThem) {
  options.watching.hooks = {attribution({"/bin/sh", "-c", "echo There is no input. >&2; exit 3"})};
  Report const report = run(breaking(5));
  ASSERT_NE(report.attribution, nullptr) << describe(report);
  EXPECT_EQ(report.attribution->not_tried.size(), report.tiles_failed);
  EXPECT_EQ(report.attribution->remark,
            "The program did not come to its pipeline again: it ended with exit code 3. It said: There is no input.");
}

TEST_F(EightTilesInFlight, AreNotKeptUnlessThatIsAskedFor) {
  options.watching.hooks.clear();
  Report const report = run(breaking(5));
  EXPECT_GT(report.tiles_failed, 0U);
  EXPECT_EQ(report.attribution, nullptr);
}

TEST_F(EightTilesInFlight, AreNotKeptIfAllGoesWell) {
  Report const report = run([](DeviceTile const&) {});
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(report.attribution, nullptr);
}

TEST_F(EightTilesInFlight, AreNamedAtOnceByALaneThatGoesStepByStep) {
  options.watching = {.step_by_step = true};
  all_there = true;
  Report const report = run(breaking(5));
  EXPECT_EQ(report.tiles_done, 5U);
  ASSERT_TRUE(report.first_failure);
  EXPECT_EQ(report.first_failure->sequence, 5U) << describe(report);
  EXPECT_EQ(report.first_failure->failure.stage, "stage");
}

}  // namespace
}  // namespace penstock
