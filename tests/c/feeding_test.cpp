// SPDX-License-Identifier: Apache-2.0
// Threads of a program in C that feed a pipeline, and how they learn of its end.
#include <atomic>
#include <thread>

#include "c/c_pipeline.hpp"

namespace penstock::c {
namespace {

TEST_F(TheCInterface, TakesTilesOfThreadsOfTheProgram) {
  make();
  ASSERT_EQ(penstock_start(pipeline, &stage, &sink), PENSTOCK_OK) << penstock_last_error();
  std::vector<std::thread> threads;
  std::atomic<int> submitted{0};
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 25; ++j) {
        penstock_tile* tile = nullptr;
        if (penstock_borrow(pipeline, &tile) != PENSTOCK_OK) return;
        std::memset(penstock_tile_input(tile, 0).data, 0, bytes);
        penstock_tile_set_filled(tile, 0, bytes);
        if (penstock_submit(pipeline, tile) == PENSTOCK_OK) ++submitted;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(snapshot()["submitted"], 50);
  ASSERT_EQ(penstock_drain(pipeline, &report), PENSTOCK_OK) << penstock_last_error();
  EXPECT_EQ(submitted, 50);
  EXPECT_EQ(report_data()["tiles"], 50);
}

TEST_F(TheCInterface, WritesNoTileWhereNoneIsFree) {
  named = {{{"tiles", "1"}, {"lanes", "1"}}};
  make();
  ASSERT_EQ(penstock_start(pipeline, &stage, &sink), PENSTOCK_OK) << penstock_last_error();
  penstock_tile* first = nullptr;
  ASSERT_EQ(penstock_borrow(pipeline, &first), PENSTOCK_OK);
  auto* second = first;
  EXPECT_EQ(penstock_try_borrow(pipeline, &second), PENSTOCK_OK);
  EXPECT_EQ(second, nullptr);
  penstock_tile_give_back(first);
  EXPECT_EQ(penstock_try_borrow(pipeline, &second), PENSTOCK_OK);
  EXPECT_NE(second, nullptr);
  penstock_tile_give_back(second);
  ASSERT_EQ(penstock_drain(pipeline, &report), PENSTOCK_OK);
}

/// What both ways to borrow answer, without a tile.
void expect_no_tile(penstock_pipeline* pipeline, penstock_status expected) {
  int untouched = 0;
  auto* const nowhere = reinterpret_cast<penstock_tile*>(&untouched);
  for (auto* const borrow : {penstock_borrow, penstock_try_borrow}) {
    penstock_tile* tile = nowhere;
    EXPECT_EQ(borrow(pipeline, &tile), expected) << penstock_last_error();
    EXPECT_EQ(tile, nowhere);
  }
}

TEST_F(TheCInterface, TellsThreadsThatFeedThatItEnded) {
  make();
  expect_no_tile(pipeline, PENSTOCK_BAD_ARGUMENT);
  for (bool const stopped : {false, true}) {
    ASSERT_EQ(penstock_start(pipeline, &stage, &sink), PENSTOCK_OK) << penstock_last_error();
    penstock_tile* tile = nullptr;
    ASSERT_EQ(penstock_borrow(pipeline, &tile), PENSTOCK_OK) << "it starts again";
    penstock_tile_give_back(tile);
    if (stopped) {
      std::thread([this] { penstock_stop(pipeline); }).join();
      expect_no_tile(pipeline, PENSTOCK_ENDED);
    }
    penstock_report_destroy(report);
    ASSERT_EQ(penstock_drain(pipeline, &report), PENSTOCK_OK) << penstock_last_error();
    EXPECT_EQ(report_data()["stopped"], stopped);
    expect_no_tile(pipeline, PENSTOCK_ENDED);
  }
  source.next = [](void* user, penstock_tile*) {
    expect_no_tile(static_cast<TheCInterface*>(user)->pipeline, PENSTOCK_BAD_ARGUMENT);
    return 0;
  };
  penstock_report_destroy(report);
  report = nullptr;
  ASSERT_EQ(penstock_run(pipeline, &source, &stage, &sink, &report), PENSTOCK_OK) << penstock_last_error();
  expect_no_tile(pipeline, PENSTOCK_BAD_ARGUMENT);
}

TEST_F(TheCInterface, WakesAThreadThatWaitsForATile) {
  named = {{{"tiles", "1"}, {"lanes", "1"}}};
  make();
  ASSERT_EQ(penstock_start(pipeline, &stage, &sink), PENSTOCK_OK) << penstock_last_error();
  penstock_tile* only = nullptr;
  ASSERT_EQ(penstock_borrow(pipeline, &only), PENSTOCK_OK);
  std::thread waits([this] {
    penstock_tile* tile = nullptr;
    EXPECT_EQ(penstock_borrow(pipeline, &tile), PENSTOCK_ENDED);
  });
  penstock_stop(pipeline);
  waits.join();
  penstock_tile_set_filled(only, 0, bytes);
  EXPECT_EQ(penstock_submit(pipeline, only), PENSTOCK_OK) << penstock_last_error();
  ASSERT_EQ(penstock_drain(pipeline, &report), PENSTOCK_OK) << penstock_last_error();
  EXPECT_EQ(cancelled, 1u);
  EXPECT_EQ(report_data()["cancelled"], 1);
}

TEST_F(TheCInterface, TakesATileThatItRefusesHome) {
  make();
  ASSERT_EQ(penstock_start(pipeline, &stage, &sink), PENSTOCK_OK) << penstock_last_error();
  penstock_tile* tile = nullptr;
  ASSERT_EQ(penstock_borrow(pipeline, &tile), PENSTOCK_OK);
  EXPECT_EQ(penstock_tile_set_filled(tile, 0, bytes + 1), PENSTOCK_OK);
  EXPECT_EQ(penstock_submit(pipeline, tile), PENSTOCK_BAD_ARGUMENT);
  EXPECT_EQ(snapshot()["pool"]["lent"], 0);
  ASSERT_EQ(penstock_borrow(pipeline, &tile), PENSTOCK_OK);
  ASSERT_EQ(penstock_drain(pipeline, &report), PENSTOCK_OK) << penstock_last_error();
  EXPECT_EQ(penstock_submit(pipeline, tile), PENSTOCK_ENDED);
  EXPECT_EQ(snapshot()["pool"]["lent"], 0);
}

TEST_F(TheCInterface, StopsFromWithin) {
  source.next = [](void* user, penstock_tile* tile) {
    auto& world = *static_cast<TheCInterface*>(user);
    if (penstock_tile_sequence(tile) == 5) penstock_stop(world.pipeline);
    return 1;  // It has no end.
  };
  run();
  EXPECT_EQ(report_data()["stopped"], true);
}

}  // namespace
}  // namespace penstock::c
