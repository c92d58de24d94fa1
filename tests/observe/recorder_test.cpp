// SPDX-License-Identifier: Apache-2.0
#include <latch>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/error.hpp"
#include "penstock/observe.hpp"

namespace penstock {
namespace {

using std::chrono::nanoseconds;
using Clock = Recorder::Clock;

TEST(Recorder, KeepsWhatItIsToldOnOneTimeAxis) {
  Recorder recorder({.capacity = 1 << 14});
  auto const row = recorder.add_row("upload", RecordRow::Kind::stream);
  auto const start = Clock::now();
  recorder.note(row, Step::upload, 7, start, start + nanoseconds(50));
  recorder.note(row, Step::upload, 8, start + nanoseconds(60), start + nanoseconds(100));
  Recording const seen = recorder.take();
  ASSERT_EQ(seen.passages.size(), 2u);
  Passage const first = seen.passages[0], second = seen.passages[1];
  EXPECT_EQ(first.tile, 7u);
  EXPECT_EQ(first.end - first.begin, 50);
  EXPECT_EQ(second.begin - first.begin, 60);
  EXPECT_GE(first.begin, 0);
  EXPECT_EQ(seen.rows.at(first.row).name, "upload");
  EXPECT_EQ(seen.missed, 0u);
}

TEST(Recorder, CountsWhatItHasNoRoomFor) {
  Recorder recorder({.capacity = 2});
  auto const row = recorder.add_row("r", RecordRow::Kind::thread);
  for (std::uint64_t tile = 0; tile < 5; ++tile) recorder.note(row, Step::fill, tile, Clock::now(), Clock::now());
  Recording const seen = recorder.take();
  EXPECT_EQ(seen.passages.size(), 2u);
  EXPECT_EQ(seen.missed, 3u);
}

TEST(Recorder, BeginsAnewOnceItWasTaken) {
  Recorder recorder({.capacity = 1 << 14});
  auto const row = recorder.add_row("r", RecordRow::Kind::thread);
  recorder.note(row, Step::fill, 1, Clock::now(), Clock::now());
  EXPECT_EQ(recorder.take().passages.size(), 1u);
  EXPECT_EQ(recorder.take().passages.size(), 0u);
  recorder.note(row, Step::sink, 2, Clock::now(), Clock::now());
  Recording const again = recorder.take();
  ASSERT_EQ(again.passages.size(), 1u);
  EXPECT_EQ(again.passages[0].step, Step::sink);
  EXPECT_EQ(again.rows.size(), 1u);
}

/// Those of the first `tiles` that one in `every` is.
std::set<std::uint64_t> looked_at(std::uint64_t every, std::uint64_t tiles) {
  Recorder const recorder({.capacity = 1, .every = every});
  std::set<std::uint64_t> wanted;
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    if (recorder.wants(tile)) wanted.insert(tile);
  }
  return wanted;
}

TEST(Recorder, LooksAtTilesInARow) {
  auto const wanted = looked_at(7, 100'000);
  for (std::uint64_t const tile : wanted) {
    for (std::uint64_t next = tile / 16 * 16; next < (tile / 16 + 1) * 16; ++next) ASSERT_TRUE(wanted.contains(next));
  }
}

/// Seen to fail if it is those that the number divides.
TEST(Recorder, LooksAtOneTileInSoManyOfEachLaneThoughLanesTakeTurns) {
  constexpr std::uint64_t tiles = 1U << 16U;
  for (std::uint64_t const every : {2U, 4U, 5U, 16U}) {
    auto const wanted = looked_at(every, tiles);
    for (std::uint64_t const lanes : {1U, 2U, 3U, 4U, 8U}) {
      std::map<std::uint64_t, double> of_lane;
      for (std::uint64_t const tile : wanted) of_lane[tile % lanes] += 1;
      double const share = static_cast<double>(tiles) / static_cast<double>(every * lanes);
      for (std::uint64_t lane = 0; lane < lanes; ++lane) {
        EXPECT_NEAR(of_lane[lane] / share, 1, 0.02) << "one in " << every << ", lane " << lane << " of " << lanes;
      }
    }
    for (std::uint64_t tile = 0; tile < 16; ++tile) {
      EXPECT_TRUE(wanted.contains(tile)) << "so that of the shortest run there is something";
    }
  }
  EXPECT_EQ(looked_at(1, tiles).size(), tiles);
}

/// All that is kept is of tiles that it wants to the end, and of each of these the whole.
TEST(Recorder, KeepsFewerTilesOfALongRunIfItMay) {
  constexpr std::uint64_t tiles = 16'000;
  Recorder recorder({.capacity = 1024, .every = 3, .thin_out = true});
  auto const row = recorder.add_row("r", RecordRow::Kind::thread);
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    if (!recorder.wants(tile)) continue;
    for (Step const step : {Step::fill, Step::sink}) recorder.note(row, step, tile, Clock::now(), Clock::now());
  }
  Recording const seen = recorder.take();
  EXPECT_EQ(seen.every, 48u);
  EXPECT_EQ(seen.missed, 0u);
  std::multiset<std::uint64_t> kept;
  for (Passage const& passage : seen.passages) kept.insert(passage.tile);
  std::multiset<std::uint64_t> wanted;
  for (std::uint64_t const tile : looked_at(seen.every, tiles)) wanted.insert({tile, tile});
  EXPECT_EQ(kept, wanted);
  std::uint64_t const early = *looked_at(3, tiles).lower_bound(16);
  EXPECT_FALSE(looked_at(seen.every, tiles).contains(early));
  EXPECT_TRUE(recorder.wants(early)) << "what comes later begins anew";
}

/// Seen to fail without the lock: passages are lost or there twice.
TEST(Recorder, ThinsOutWhileSeveralNote) {
  constexpr std::uint64_t each = 5'000;
  for (int round = 0; round < 20; ++round) {
    Recorder recorder({.capacity = 4'000, .thin_out = true});
    std::vector<std::thread> threads;
    std::latch all_there(4);
    for (std::uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        all_there.arrive_and_wait();
        for (std::uint64_t i = 0; i < each; ++i) recorder.note(0, Step::fill, 4 * i + t, Clock::now(), Clock::now());
      });
    }
    for (auto& thread : threads) thread.join();
    Recording const seen = recorder.take();
    std::set<std::uint64_t> tiles;
    for (Passage const& passage : seen.passages) tiles.insert(passage.tile);
    EXPECT_EQ(tiles.size(), seen.passages.size());
    EXPECT_EQ(tiles, looked_at(seen.every, 4 * each));
  }
}

TEST(Recorder, SaysWhatItWasToldThatMarksTook) {
  Recorder recorder({.capacity = 1 << 14});
  recorder.spend(nanoseconds(30));
  recorder.spend(nanoseconds(12));
  EXPECT_EQ(recorder.take().spent, 42);
  EXPECT_EQ(recorder.take().spent, 0);
}

TEST(Recorder, RefusesToLookAtNothing) {
  EXPECT_THROW(Recorder({.every = 0}), Error);
  EXPECT_THROW(Recorder({.capacity = 0}), Error);
}

TEST(Recorder, KnowsNoThreadAnyMoreOnceItWasTaken) {
  Recorder recorder({.capacity = 1 << 14});
  auto const before = recorder.row_here();
  static_cast<void>(recorder.take());
  // Another thread may have this one's number by now.
  EXPECT_NE(recorder.row_here(), before);
  EXPECT_EQ(recorder.take().rows.size(), 2u);
}

TEST(Recorder, GivesEachThreadARowOfItsOwn) {
  Recorder recorder({.capacity = 1 << 14});
  std::set<std::uint32_t> rows;
  for (int i = 0; i < 3; ++i) {
    std::thread([&] {
      auto const row = recorder.row_here();
      EXPECT_EQ(recorder.row_here(), row);
      rows.insert(row);
    }).join();
  }
  // A thread's number may be given out again once it has ended, and with it the row.
  EXPECT_EQ(recorder.take().rows.size(), rows.size());
}

/// Seen to fail with a store of next_ + 1 in place of fetch_add: passages are lost.
TEST(Recorder, LosesNothingThatSeveralNoteAtOnce) {
  constexpr std::uint64_t each = 10'000;
  Recorder recorder({.capacity = 4 * each});
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      auto const row = recorder.row_here();
      for (std::uint64_t i = 0; i < each; ++i) {
        recorder.note(row, Step::fill, t * each + i, Clock::now(), Clock::now());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::set<std::uint64_t> tiles;
  for (Passage const& passage : recorder.take().passages) tiles.insert(passage.tile);
  EXPECT_EQ(tiles.size(), 4 * each);
}

}  // namespace
}  // namespace penstock
