// SPDX-License-Identifier: Apache-2.0
// Tests when packs leave; records/departures.pml has every order of the steps.
#include "records/departures.hpp"

#include <thread>
#include <utility>
#include <vector>

#include "support/gate.hpp"
#include "support/thread_state.hpp"
#include <gtest/gtest.h>
#include <unistd.h>

#include "penstock/error.hpp"
#include "records/departures_world.hpp"

namespace penstock {
namespace {

TEST_F(TwoTilesUnderWay, LetRecordsTravelAloneWhileTheLanesAreHungry) {
  Desk& desk = departures.take_desk();
  write(departures, desk, packs[0]);
  write(departures, desk, packs[1]);
  EXPECT_EQ(left, (std::vector<Left>{{&packs[0], Departure::hungry}, {&packs[1], Departure::hungry}}));
  write(departures, desk, packs[2]);
  write(departures, desk, packs[3]);
  EXPECT_EQ(left.size(), 2u);
  EXPECT_EQ(packs[2].count(), 2u) << "under load they travel together";
}

TEST_F(TwoTilesUnderWay, SendsWhoWaitedLongestWhenATileIsBack) {
  Desk& first = departures.take_desk();
  Desk& second = departures.take_desk();
  departures.send(packs[0], Departure::full);
  departures.send(packs[1], Departure::full);
  write(departures, second, packs[2]);
  write(departures, first, packs[3]);
  write(departures, second, packs[4]);
  departures.returned();
  ASSERT_EQ(left.size(), 3u);
  EXPECT_EQ(left[2], (Left{&packs[2], Departure::hungry}));
  departures.returned();
  EXPECT_EQ(left[3], (Left{&packs[3], Departure::hungry}));
}

TEST_F(TwoTilesUnderWay, SendsWhoWaitedLongestWhicheverDeskIsTheOlder) {
  Desk& first = departures.take_desk();
  Desk& second = departures.take_desk();
  departures.send(packs[0], Departure::full);
  departures.send(packs[1], Departure::full);
  write(departures, first, packs[2]);
  write(departures, second, packs[3]);
  departures.returned();
  ASSERT_EQ(left.size(), 3u);
  EXPECT_EQ(left[2], (Left{&packs[2], Departure::hungry}));
}

TEST_F(TwoTilesUnderWay, SendsHungryLanesNoLessThanIsEnough) {
  Departures patient({.hungry_below = 2, .least_bytes = 100, .linger = for_ever}, note());
  Desk& small = patient.take_desk();
  Desk& large = patient.take_desk();
  patient.send(packs[0], Departure::full);
  patient.send(packs[1], Departure::full);
  packs[2].used = 99;
  packs[3].used = 100;
  write(patient, small, packs[2]);
  write(patient, large, packs[3]);
  patient.returned();
  ASSERT_EQ(left.size(), 3u) << "the older has too little";
  EXPECT_EQ(left[2], (Left{&packs[3], Departure::hungry}));
  patient.returned();
  EXPECT_EQ(left.size(), 3u);
  packs[2].used = 101;
  write(patient, small, packs[2]);
  ASSERT_EQ(left.size(), 4u) << "the writer finds that it is enough";
  EXPECT_EQ(left[3], (Left{&packs[2], Departure::hungry}));
  while (patient.under_way() > 0) patient.returned();
}

TEST_F(TwoTilesUnderWay, RefuseAWriterThatIsAtWorkAlready) {
  Desk& desk = departures.take_desk();
  ASSERT_EQ(departures.take_up(desk), nullptr);
  EXPECT_THROW(departures.take_up(desk), Error);
  departures.put_down(desk, nullptr);
  EXPECT_EQ(departures.take_up(desk), nullptr);
  departures.put_down(desk, nullptr);
}

TEST_F(TwoTilesUnderWay, LeavesAloneWhatItsWriterIsAt) {
  Desk& desk = departures.take_desk();
  departures.send(packs[0], Departure::full);
  departures.send(packs[1], Departure::full);
  write(departures, desk, packs[2]);
  ASSERT_EQ(departures.take_up(desk), &packs[2]);
  departures.returned();
  departures.send_from(desk, Departure::asked);
  EXPECT_EQ(left.size(), 2u);
  departures.put_down(desk, &packs[2]);
  ASSERT_EQ(left.size(), 3u) << "the writer finds that the lanes are hungry";
  EXPECT_EQ(left[2].why, Departure::hungry);
}

TEST_F(TwoTilesUnderWay, LetsNobodyInOnceItIsClosedAndSendsTheRest) {
  Desk& idle = departures.take_desk();
  Desk& busy = departures.take_desk();
  departures.send(packs[0], Departure::full);
  departures.send(packs[1], Departure::full);
  write(departures, idle, packs[2]);
  write(departures, busy, packs[3]);
  ASSERT_EQ(departures.take_up(busy), &packs[3]);
  std::atomic<bool> closed{false};
  std::jthread closes([&] {
    departures.close();
    closed = true;
  });
  while (!departures.closed()) std::this_thread::yield();
  EXPECT_FALSE(departures.take_up(idle));
  EXPECT_FALSE(closed) << "a writer is still at work";
  departures.put_down(busy, &packs[3]);
  closes.join();
  EXPECT_EQ(left.size(), 4u);
  EXPECT_EQ(left[2].why, Departure::asked);
  departures.reopen();
  EXPECT_TRUE(departures.take_up(idle));
  departures.put_down(idle, nullptr);
}

TEST_F(TwoTilesUnderWay, GivesADeskToTheNextWriter) {
  Desk& desk = departures.take_desk();
  departures.send(packs[0], Departure::full);
  departures.send(packs[1], Departure::full);
  write(departures, desk, packs[2]);
  departures.give_back(desk);
  EXPECT_EQ(left.back(), (Left{&packs[2], Departure::asked}));
  EXPECT_EQ(&departures.take_desk(), &desk);
  EXPECT_NE(&departures.take_desk(), &desk);
}

TEST_F(TwoTilesUnderWay, SendsWhatIsLateThoughNothingComesBack) {
  Departures hurried({.hungry_below = 1, .linger = 1ms}, note());
  std::jthread clock([&] { hurried.watch(); });
  Desk& desk = hurried.take_desk();
  auto const left_so_far = [&] {
    std::scoped_lock const lock(mutex);
    return left.size();
  };
  hurried.send(packs[0], Departure::full);
  for (std::size_t round = 1; round <= 3; ++round) {
    write(hurried, desk, packs.at(round));
    while (left_so_far() != round + 1) std::this_thread::yield();
    EXPECT_EQ(left[round], (Left{&packs.at(round), Departure::late}));
  }
  hurried.end_watch();
}

TEST_F(TwoTilesUnderWay, HaveItsWriterSendWhatIsLateWhileItIsAtWork) {
  Departures hurried({.hungry_below = 1, .linger = 1ms}, note());
  Desk& desk = hurried.take_desk();
  hurried.send(packs[0], Departure::full);
  write(hurried, desk, packs[1]);
  ASSERT_EQ(hurried.take_up(desk), &packs[1]);
  std::jthread clock([&] { hurried.watch(); });
  while (!desk.overdue) std::this_thread::yield();
  EXPECT_EQ(left.size(), 1u);
  hurried.put_down(desk, &packs[1]);
  EXPECT_EQ(left.back(), (Left{&packs[1], Departure::late}));
  hurried.end_watch();
}

TEST_F(TwoTilesUnderWay, CountTheTimeOfNoRecordsThatWereInTheSameTileBefore) {
  Departures hurried({.hungry_below = 1, .linger = 24h}, note());
  Desk& desk = hurried.take_desk();
  hurried.send(packs[0], Departure::full);
  packs[1].since = Clock::now() - 48h;
  packs[1].open({});
  desk.overdue = true;  // The clock's thread asks the writer to look.
  write(hurried, desk, packs[1]);
  EXPECT_EQ(left.size(), 1u);
}

TEST_F(TwoTilesUnderWay, WaitWhenTheyAreClosedForWhoSendsAtThatMoment) {
  support::Gate gate;
  Departures slow({.hungry_below = 1, .linger = for_ever}, [&](Pack& pack, Departure why) {
    if (why == Departure::asked) gate.pass();
    std::scoped_lock const lock(mutex);
    left.push_back({&pack, why});
  });
  Desk& desk = slow.take_desk();
  slow.send(packs[0], Departure::full);
  write(slow, desk, packs[1]);
  std::jthread sends([&] { slow.send_from(desk, Departure::asked); });
  gate.await_reached();
  std::size_t left_when_closed = 0;
  std::jthread closes([&] {
    slow.close();
    left_when_closed = left.size();
  });
  while (!slow.closed()) std::this_thread::yield();
  gate.open();
  closes.join();
  EXPECT_EQ(left_when_closed, 2u);
}

TEST_F(TwoTilesUnderWay, LetsTheClockSleepWhileNobodyWaits) {
  Departures quiet({.hungry_below = 1, .linger = 1ms}, note());
  std::atomic<pid_t> id{0};
  std::jthread clock([&] {
    id = ::gettid();
    quiet.watch();
  });
  while (id == 0) std::this_thread::yield();
  support::await_asleep(id);
  auto const slept = support::times_asleep(id);
  Desk& desk = quiet.take_desk();
  for (Pack& pack : packs) {
    write(quiet, desk, pack);
    EXPECT_EQ(left.back(), (Left{&pack, Departure::hungry}));
    quiet.returned();
    support::await_asleep(id);  // Once more, if it was woken.
  }
  ASSERT_EQ(quiet.take_up(desk), nullptr);
  // A thread that is about to sleep seems asleep a moment before that is counted.
  EXPECT_LE(support::times_asleep(id) - slept, 1u) << "nobody had to wait for it";
  quiet.put_down(desk, nullptr);
  quiet.end_watch();
}

TEST(Departures, SendEachRecordOfManyWritersOnce) {
  constexpr std::size_t writers = 4, records = 5000, room = 3, tiles = 64;
  struct Tile {
    Pack pack;
    std::atomic<bool> home{true};
  };
  std::vector<Tile> pool(tiles);
  std::mutex mutex;
  std::vector<std::pair<Pack*, std::size_t>> travelling;
  Departures departures({.hungry_below = 3, .linger = std::chrono::hours(24)}, [&](Pack& pack, Departure) {
    std::scoped_lock const lock(mutex);
    travelling.emplace_back(&pack, pack.entries.size());
  });
  std::atomic<std::size_t> told{0};
  std::jthread const sink([&](std::stop_token const& stop) {
    while (!stop.stop_requested() || departures.under_way() > 0) {
      std::pair<Pack*, std::size_t> tile{};
      {
        std::scoped_lock const lock(mutex);
        if (travelling.empty()) {
          std::this_thread::yield();
          continue;
        }
        tile = travelling.back();
        travelling.pop_back();
      }
      told += tile.second;
      departures.returned();
      for (Tile& one : pool) {
        if (&one.pack == tile.first) one.home = true;
      }
    }
  });
  auto const fresh = [&]() -> Pack& {
    for (;;) {
      for (Tile& one : pool) {
        if (!one.home.exchange(false)) continue;
        one.pack.open({});
        return one.pack;
      }
      std::this_thread::yield();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t writer = 0; writer < writers; ++writer) {
      threads.emplace_back([&] {
        Desk& desk = departures.take_desk();
        for (std::size_t i = 0; i < records; ++i) {
          Pack* pack = departures.take_up(desk).value();
          if (pack != nullptr && pack->count() == room) departures.send(*std::exchange(pack, nullptr), Departure::full);
          if (pack == nullptr) pack = &fresh();
          pack->entries.push_back({});
          departures.put_down(desk, pack);
        }
      });
    }
  }
  // No thread asks for what lies on the desks, and no clock runs: it leaves since tiles come back.
  while (told < writers * records) std::this_thread::yield();
  EXPECT_EQ(told, writers * records);
}

}  // namespace
}  // namespace penstock
