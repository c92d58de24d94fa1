// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/crew.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace penstock {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Four workers whose times, one for each, are told and not measured. None of them is ever without patience, unless a
/// test says so.
struct ACrew : testing::Test {
  static constexpr std::size_t size = 4;
  std::stop_source over;
  std::optional<Crew> crew;
  std::vector<Crew::Clock::time_point> now{size, Crew::Clock::time_point(hours(1))};
  std::vector<std::thread> resting;

  void open(nanoseconds patience = hours(1), std::size_t least = 1) {
    crew.emplace(size, least, over.get_token(), patience);
  }
  void TearDown() override {
    over.request_stop();
    for (auto& thread : resting) thread.join();
  }
  /// Notes tiles of a worker, each of which took `took` in all; of that it waited and filled for some.
  void work(std::size_t worker, unsigned tiles, microseconds took, microseconds waited, microseconds filled) {
    for (unsigned i = 0; i < tiles; ++i) {
      now[worker] += took;
      crew->note(worker, now[worker], {waited, filled});
    }
  }
  /// Does so for all that are at work, in turn and again, until nothing changes any more.
  void all_work(microseconds took, microseconds waited, microseconds filled) {
    for (unsigned round = 0; round < 4 * size; ++round) {
      for (std::size_t worker = 0; worker < crew->at_work(); ++worker) work(worker, 40, took, waited, filled);
    }
  }
};

/// Seen to fail if a worker that waits stays.
TEST_F(ACrew, SendsHomeThoseWithoutWhomTheOthersAreEnough) {
  open();
  EXPECT_EQ(crew->at_work(), size);
  all_work(microseconds(50), microseconds(35), microseconds(15));
  EXPECT_EQ(crew->at_work(), 1u);
  EXPECT_FALSE(crew->rests(0));
  EXPECT_TRUE(crew->rests(1));
}

TEST_F(ACrew, SaysWhenNoProducerGotATileForLong) {
  open(milliseconds(1));
  all_work(microseconds(50), microseconds(35), microseconds(15));
  auto const before = Crew::Clock::now();
  EXPECT_LT(crew->last_want(), before - hours(1));
  crew->rest(1);
  EXPECT_GE(crew->last_want(), before);
  EXPECT_EQ(crew->at_work(), 2U);
}

/// Three cannot do what four do that are busy for two thirds of their time. Seen to fail with a share of 1.
TEST_F(ACrew, KeepsThoseWhomTheOthersCouldNotReplace) {
  open();
  all_work(microseconds(30), microseconds(10), microseconds(18));
  EXPECT_EQ(crew->at_work(), size);
}

/// They hold each other up at locks, which is neither waiting nor filling. Seen to fail if only waiting counts.
TEST_F(ACrew, SendsHomeThoseWhoHardlyFill) {
  open();
  all_work(microseconds(30), microseconds(2), microseconds(1));
  EXPECT_EQ(crew->at_work(), 1u);
}

/// Seen to fail if one is the least there is.
TEST_F(ACrew, KeepsAtLeastSoManyAtWork) {
  open(hours(1), 2);
  all_work(microseconds(50), microseconds(45), microseconds(5));
  EXPECT_EQ(crew->at_work(), 2u);
}

/// Seen to fail if slow ones are judged as others are.
TEST_F(ACrew, KeepsAllWhereATileTakesLongToFill) {
  open();
  all_work(microseconds(2000), microseconds(1000), microseconds(1000));
  EXPECT_EQ(crew->at_work(), size);
  all_work(microseconds(50), microseconds(45), microseconds(5));
  ASSERT_EQ(crew->at_work(), 1u);
  work(0, 12, microseconds(2000), microseconds(1000), microseconds(1000));
  EXPECT_EQ(crew->at_work(), 2u);
}

/// Seen to fail if no worker is called in.
TEST_F(ACrew, CallsInTheNextWhenThoseAtWorkHardlyWait) {
  open();
  all_work(microseconds(50), microseconds(45), microseconds(5));
  ASSERT_EQ(crew->at_work(), 1u);
  work(0, 40, microseconds(16), microseconds(1), microseconds(14));
  EXPECT_EQ(crew->at_work(), 2u);
  all_work(microseconds(16), microseconds(1), microseconds(14));
  EXPECT_EQ(crew->at_work(), size);
}

/// Seen to fail if a few tiles are enough, however soon they came.
TEST_F(ACrew, JudgesNobodyByFewTilesOrLittleTime) {
  open();
  work(3, 15, microseconds(1000), microseconds(999), microseconds(0));
  EXPECT_EQ(crew->at_work(), size);
  open();
  work(3, 400, microseconds(1), microseconds(1), microseconds(0));
  EXPECT_EQ(crew->at_work(), size);
}

/// Seen to fail without the time of slow tiles.
TEST_F(ACrew, JudgesThoseWhoseTilesAreSlowByTime) {
  open();
  work(3, 3, milliseconds(30), milliseconds(29), microseconds(0));
  EXPECT_EQ(crew->at_work(), size - 1);
}

TEST_F(ACrew, SendsHomeNobodyButTheLast) {
  open();
  work(0, 100, microseconds(100), microseconds(99), microseconds(1));
  work(2, 100, microseconds(100), microseconds(99), microseconds(1));
  EXPECT_EQ(crew->at_work(), size);
  work(3, 40, microseconds(100), microseconds(99), microseconds(1));
  EXPECT_EQ(crew->at_work(), size - 1);
}

/// Seen to fail if a worker that is called in is not woken.
TEST_F(ACrew, WakesWhoeverIsCalledIn) {
  open();
  all_work(microseconds(50), microseconds(45), microseconds(5));
  for (std::size_t worker = 1; worker < size; ++worker) {
    resting.emplace_back([this, worker] { crew->rest(worker); });
  }
  // Each judgement of the worker at work calls in one more.
  while (crew->at_work() < size) work(0, 1, microseconds(16), microseconds(1), microseconds(14));
  for (auto& thread : resting) thread.join();
  resting.clear();
  EXPECT_GT(crew->rested().count(), 0);
}

/// Seen to fail if only the first that rests keeps watch, and not the first after it; it then never ends.
TEST_F(ACrew, ComesBackOneAfterTheOtherIfNobodyGetsThroughATile) {
  open(milliseconds(1));
  all_work(microseconds(50), microseconds(45), microseconds(5));
  for (std::size_t worker = 1; worker < size; ++worker) {
    resting.emplace_back([this, worker] { crew->rest(worker); });
  }
  for (auto& thread : resting) thread.join();
  resting.clear();
  EXPECT_EQ(crew->at_work(), size);
}

/// Seen to fail if it is judged by the time in which it rested.
TEST_F(ACrew, JudgesOneThatComesBackByWhatItDoesFromThenOn) {
  open(milliseconds(1));
  all_work(microseconds(50), microseconds(45), microseconds(5));
  ASSERT_EQ(crew->at_work(), 1u);
  crew->rest(1);
  ASSERT_EQ(crew->at_work(), 2u);
  now[1] += hours(1);
  work(1, 1, microseconds(16), microseconds(1), microseconds(14));
  EXPECT_EQ(crew->at_work(), 2u);
}

/// On a busy machine the one at work may itself stand still for long; then the other may come back.
///
/// Seen to fail if tiles are not counted.
TEST_F(ACrew, LetsTheNextRestWhileTilesPass) {
  constexpr milliseconds patience{10};
  open(patience);
  all_work(microseconds(50), microseconds(45), microseconds(5));
  ASSERT_EQ(crew->at_work(), 1u);
  resting.emplace_back([this] { crew->rest(1); });
  auto const began = Crew::Clock::now();
  auto before = began;  // Before the last tile but one.
  nanoseconds longest_pause{0};
  for (auto last = began; crew->at_work() == 1 && last - began < 10 * patience;) {
    work(0, 1, microseconds(50), microseconds(45), microseconds(5));
    auto const here = Crew::Clock::now();
    longest_pause = std::max<nanoseconds>(longest_pause, here - before);
    before = std::exchange(last, here);
  }
  if (crew->at_work() > 1) {
    EXPECT_GE(std::max<nanoseconds>(longest_pause, Crew::Clock::now() - before), patience - milliseconds(1));
  }
}

/// Seen to fail if the stop wakes no worker.
TEST_F(ACrew, EndsItsRestWhenAllIsOver) {
  open();
  all_work(microseconds(50), microseconds(45), microseconds(5));
  for (std::size_t worker = 1; worker < size; ++worker) {
    resting.emplace_back([this, worker] { crew->rest(worker); });
  }
  over.request_stop();
  for (auto& thread : resting) thread.join();
  resting.clear();
  EXPECT_EQ(crew->at_work(), 1u);
}

}  // namespace
}  // namespace penstock
