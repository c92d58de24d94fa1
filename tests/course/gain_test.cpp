// SPDX-License-Identifier: Apache-2.0
#include "course/gain.hpp"

#include <gtest/gtest.h>

namespace penstock::lab {
namespace {

using namespace std::chrono_literals;

TEST(PiecesWithoutWaits, BeginWhenTheirEngineIsFree) {
  std::vector<Interval> const seen{{"1", "up", 0ms, 4ms},     {"2", "up", 0ms, 8ms},    {"1", "kernel", 4ms, 7ms},
                                   {"2", "kernel", 5ms, 9ms}, {"1", "down", 7ms, 11ms}, {"2", "down", 9ms, 15ms}};
  auto const two = without_waits(seen, 2);
  EXPECT_EQ(two[0].start, 0ms);
  EXPECT_EQ(two[1].start, 4ms);
  EXPECT_EQ(two[3].start, 7ms) << "kernels fill the device";
  EXPECT_EQ(two[4].start, 7ms);
  EXPECT_EQ(two[5].start, 11ms);
  auto const one = without_waits(seen, 1);
  EXPECT_EQ(one[4].start, 8ms) << "behind the second upload";
}

TEST(TheShareThatOverlaps, IsNoneOfPiecesThatRanAlone) {
  EXPECT_DOUBLE_EQ(overlapped(std::vector<Interval>{{"1", "up", 0ms, 4ms}, {"1", "kernel", 4ms, 7ms}}), 0);
  EXPECT_LT(overlapped(std::vector<Interval>{{"1", "up", 0ms, 4ms}, {"1", "kernel", 5ms, 7ms}}), 0);
  EXPECT_DOUBLE_EQ(overlapped(std::vector<Interval>{{"1", "up", 0ms, 4ms}, {"2", "kernel", 0ms, 4ms}}), 0.5);
}

TEST(Runs, AreDrawnOneBehindTheOther) {
  auto const all = one_run_behind_the_other({{{"a", "up", 5ms, 105ms}}, {{"b", "up", 90ms, 100ms}}});
  EXPECT_EQ(all[0].start, 0ms);
  EXPECT_EQ(all[1].start, 105ms);
  EXPECT_EQ(all[1].end, 115ms);
}

TEST(Runs, AreDrawnBelowOneInOneStreamOnTheSameScale) {
  std::vector<Interval> const serial{{"stream 1", "up", 5ms, 9ms, Engine::up},
                                     {"stream 1", "kernel", 9ms, 12ms, Engine::kernels},
                                     {"stream 1", "up", 12ms, 16ms, Engine::up},
                                     {"stream 1", "kernel", 16ms, 19ms, Engine::kernels}};
  auto const all = below_one_stream(serial, {{"stream 2", "down", 50ms, 57ms, Engine::down}});
  ASSERT_EQ(all.size(), 9u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(all[i].row, "one stream");
    EXPECT_EQ(all[i].label, serial[i].label);
    EXPECT_EQ(all[i].start, serial[i].start - 5ms);
  }
  EXPECT_EQ(all[5].row, "its copies up");
  EXPECT_EQ(all[5].label, "2") << "the number of its part";
  EXPECT_EQ(all[6].row, "its kernels");
  EXPECT_EQ(all[7].end, 14ms);
  EXPECT_EQ(all[8].row, "stream 2");
  EXPECT_EQ(all[8].start, 0ms) << "it has the same beginning";
  EXPECT_EQ(all[8].length(), 7ms) << "and the same scale";
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(all[i].engine, Engine::none) << "its engines have their rows";
  EXPECT_EQ(all[8].engine, Engine::down);
}

TEST(AVerdictOnWhatIsSaved, AsksAGpuForHalfOfIt) {
  DeviceInfo gpu;
  gpu.kind = DeviceKind::cuda;
  Gain gain{.serial = 50ms, .possible = 30ms, .measured = 38ms, .overlapped = 0.1};
  auto const verdict = saves(gpu, "3 streams", gain);
  EXPECT_TRUE(verdict.as_expected);
  EXPECT_EQ(verdict.fact,
            "3 streams saved 12.0 ms of the 20.0 ms that can be saved (1 - measured / one after the other: 24 %)");
  gain.measured = 42ms;
  EXPECT_FALSE(saves(gpu, "3 streams", gain).as_expected);
  EXPECT_FALSE(saves(gpu, "3 streams", gain).disproved) << "another try may do better";
}

TEST(AVerdictOnWhatIsSaved, AsksTheCpuDeviceForAnyOverlap) {
  Gain gain{.serial = 40ms, .possible = 20ms, .measured = 39ms, .overlapped = 0.1};
  EXPECT_TRUE(saves({}, "3 streams", gain).as_expected);
  gain.overlapped = 0;
  EXPECT_FALSE(saves({}, "3 streams", gain).as_expected);
}

TEST(AVerdictOnContent, LetsNoOtherTryMakeItGood) {
  EXPECT_TRUE(came_back(0, 3).as_expected);
  EXPECT_FALSE(came_back(1, 3).as_expected);
  EXPECT_TRUE(both({true, "one"}, came_back(1, 3)).disproved);
}

}  // namespace
}  // namespace penstock::lab
