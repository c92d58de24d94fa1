// SPDX-License-Identifier: Apache-2.0
// Tests what leaves while the writer of a pack fills room behind its records.
#include "records/claim.hpp"

#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "support/thread_state.hpp"
#include <sys/types.h>
#include <unistd.h>

#include "records/departures_world.hpp"

namespace penstock {
namespace {

/// Those that let a pack be divided: its records go to the last pack of all, if that is free.
struct TwoTilesUnderWayAndClaims : TwoTilesUnderWay {
  bool free = true;
  Departures claims{{.hungry_below = 2, .linger = for_ever}, note(), [this](Pack& claimed, Pack* empty) -> Pack* {
                      if (empty == nullptr && !free) return nullptr;
                      Pack& to = empty != nullptr ? *empty : packs.back();
                      to.entries.swap(claimed.entries);
                      to.since = std::exchange(claimed.since, std::nullopt);
                      return &to;
                    }};
  /// A record on a desk that its writer has taken up again to fill room behind it, with two tiles under way.
  Desk& claimed() {
    Desk& desk = claims.take_desk();
    claims.send(packs[0], Departure::full);
    claims.send(packs[1], Departure::full);
    write(claims, desk, packs[2]);
    EXPECT_EQ(claims.take_up(desk), &packs[2]);
    claims.open_claim(desk, packs[2]);
    return desk;
  }
};

TEST_F(TwoTilesUnderWayAndClaims, SendWhatLiesBesideAClaimWhenATileIsBack) {
  Desk& desk = claimed();
  EXPECT_EQ(left.size(), 2u);
  claims.returned();
  ASSERT_EQ(left.size(), 3u);
  EXPECT_EQ(left[2], (Left{&packs.back(), Departure::hungry}));
  desk.claim.close();
  EXPECT_EQ(packs[2].count(), 0u);
  claims.put_down(desk, nullptr);
}

TEST_F(TwoTilesUnderWayAndClaims, LeaveAloneWhatIsClaimedNoMore) {
  Desk& desk = claimed();
  desk.claim.close();
  claims.returned();
  EXPECT_EQ(left.size(), 2u);
  claims.put_down(desk, &packs[2]);
  EXPECT_EQ(left.back(), (Left{&packs[2], Departure::hungry}));
}

TEST_F(TwoTilesUnderWayAndClaims, SendWhatFoundNoTileByTheNextThatIsSpare) {
  free = false;
  Desk& desk = claimed();
  EXPECT_FALSE(claims.send_wanted(packs[3])) << "it is not wanted yet";
  claims.returned();
  EXPECT_EQ(left.size(), 2u);
  EXPECT_TRUE(claims.send_wanted(packs[3]));
  EXPECT_EQ(left.back(), (Left{&packs[3], Departure::hungry}));
  EXPECT_FALSE(claims.send_wanted(packs[4])) << "it has left";
  desk.claim.close();
  claims.put_down(desk, nullptr);
}

TEST_F(TwoTilesUnderWayAndClaims, HaveTheClockLookForATileThatIsNotThereYet) {
  std::atomic<bool> asked{false}, there{false};
  Departures later{{.hungry_below = 1, .linger = for_ever}, note(), [&](Pack& claimed, Pack*) -> Pack* {
                     asked = true;
                     if (!there) return nullptr;
                     packs.back().entries.swap(claimed.entries);
                     packs.back().since = std::exchange(claimed.since, std::nullopt);
                     return &packs.back();
                   }};
  std::jthread clock([&] { later.watch(); });
  Desk& desk = later.take_desk();
  later.send(packs[0], Departure::full);
  write(later, desk, packs[1]);
  ASSERT_EQ(later.take_up(desk), &packs[1]);
  later.open_claim(desk, packs[1]);
  later.returned();
  EXPECT_TRUE(asked);
  there = true;
  await_left(2);
  desk.claim.close();
  later.put_down(desk, nullptr);
  later.close();
  std::scoped_lock const lock(mutex);
  EXPECT_EQ(left.back(), (Left{&packs.back(), Departure::hungry}));
  later.end_watch();
}

/// Departures that are late after a millisecond, of which one tile is under way, with a record that its writer has
/// taken up again. The clock's thread has found it late, left it to the writer, and sleeps.
struct ALateRecordAtItsWriter : TwoTilesUnderWay {
  std::atomic<bool> free{true};
  std::atomic<unsigned> asked{0};  ///< Times that a tile for the record was asked for.
  Departures late{{.hungry_below = 1, .linger = 1ms}, note(), [this](Pack& claimed, Pack*) -> Pack* {
                    ++asked;
                    if (!free) return nullptr;
                    packs.back().entries.swap(claimed.entries);
                    packs.back().since = std::exchange(claimed.since, std::nullopt);
                    return &packs.back();
                  }};
  Desk& desk = late.take_desk();
  std::atomic<pid_t> id{0};
  std::jthread clock;

  void SetUp() override {
    late.send(packs[0], Departure::full);
    write(late, desk, packs[1]);
    ASSERT_EQ(late.take_up(desk), &packs[1]);
    clock = std::jthread([this] {
      id = ::gettid();
      late.watch();
    });
    while (!desk.overdue) std::this_thread::yield();
    support::await_asleep(id);
  }
  void TearDown() override {
    desk.claim.close();
    late.put_down(desk, nullptr);
    late.end_watch();
    clock.join();
    EXPECT_EQ(left.back(), (Left{&packs.back(), Departure::late}));
    TwoTilesUnderWay::TearDown();
  }
};

/// Seen to fail if the writer does not look whether it was asked to.
TEST_F(ALateRecordAtItsWriter, LeavesAsSoonAsTheWriterFillsRoomBehindIt) {
  late.open_claim(desk, packs[1]);
  EXPECT_EQ(asked, 1u);
  std::scoped_lock const lock(mutex);
  EXPECT_EQ(left.size(), 2u);
}

/// Seen to hang if the clock's thread is not woken.
TEST_F(ALateRecordAtItsWriter, LeavesOnceThereIsATileThoughTheWriterStillFillsItsRoom) {
  free = false;
  late.open_claim(desk, packs[1]);
  EXPECT_GE(asked, 1u);
  free = true;
  await_left(2);
}

}  // namespace
}  // namespace penstock
