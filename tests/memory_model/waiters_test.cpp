// SPDX-License-Identifier: Apache-2.0
// Threads that wait for the tiles of a pool, watch for them and bring them home, under a checker of the memory
// model. A tile that is home while a thread sleeps for one is a deadlock there.
#include "engine/core/waiters.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "memory_model/modelled_atomics.hpp"
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "engine/core/tile_queue.hpp"

namespace penstock {
namespace {

using modelled::found_in;
using modelled::Making;
using modelled::random_search;
using std::memory_order;

/// Does as Pool does, with two tiles: the first two threads bring one home each, the third watches for one and then
/// sleeps, the last sleeps for one.
struct TwoTilesForTwoThatWait : rl::test_suite<TwoTilesForTwoThatWait, 4> {
  using Home = BasicTileQueue<modelled::Atomics, std::uint16_t>;
  using Waiting = BasicWaiters<modelled::Atomics>;
  std::unique_ptr<Home> home;
  std::unique_ptr<Waiting> waiters;
  std::unique_ptr<modelled::Atomics::Atomic<std::uint32_t>[]> given;
  std::unique_ptr<rl::mutex> queue_mutex;
  unsigned queue[2] = {};  // Threads that sleep, in order of arrival.
  unsigned queued = 0;

  void before() {
    home = std::make_unique<Home>(2);
    for (std::uint32_t tile = 0; tile < 2; ++tile) home->push(tile);
    for (int i = 0; i < 2; ++i) static_cast<void>(home->pop());
    waiters = std::make_unique<Waiting>();
    given = std::make_unique<modelled::Atomics::Atomic<std::uint32_t>[]>(4);
    queue_mutex = std::make_unique<rl::mutex>();
    queued = 0;
  }
  void serve(unsigned at_most) {
    for (; at_most > 0 && queued > 0; --at_most) {
      if (!home->pop()) return;
      unsigned const served = queue[0];
      queue[0] = queue[1];
      --queued;
      waiters->remove_sleeper();
      given[served].store(1, memory_order::release);
      modelled::Atomics::wake_all(given[served]);
    }
  }
  void serve_next() {
    if (!waiters->any_sleeps() || waiters->one_watches() || home->empty()) return;
    queue_mutex->lock(RL_INFO);
    serve(1);
    queue_mutex->unlock(RL_INFO);
  }
  void bring_home(unsigned tile) {
    home->push(tile);
    if (waiters->none_sleeps_behind_push() || waiters->one_watches_behind_push()) return;
    queue_mutex->lock(RL_INFO);
    serve(2);
    queue_mutex->unlock(RL_INFO);
  }
  bool watch() {
    if (!waiters->begin_watch()) return false;
    bool seen = false;
    for (int looks = 0; looks < 3 && !seen; ++looks) seen = home->pop().has_value();
    waiters->end_watch();
    if (seen) serve_next();
    return seen;
  }
  void lie_down(unsigned self) {
    queue_mutex->lock(RL_INFO);
    queue[queued++] = self;
    waiters->add_sleeper();
    serve(2);
    queue_mutex->unlock(RL_INFO);
    while (given[self].load(memory_order::acquire) == 0) {
      modelled::Atomics::wait(given[self], 0, std::chrono::hours(1));
    }
    serve_next();
  }
  void thread(unsigned index) {
    if (index < 2) {
      bring_home(index);
    } else if (index == 3 || !watch()) {
      lie_down(index);
    }
  }
  void after() {
    RL_ASSERT(queued == 0 && !waiters->any_sleeps() && !waiters->one_watches() && home->empty());
    queue_mutex.reset();
    given.reset();
    waiters.reset();
    home.reset();
  }
};

TEST(WaitersInTheMemoryModel, LeaveNoTileAtHomeWhileAThreadSleepsForOne) {
  EXPECT_EQ(found_in<TwoTilesForTwoThatWait>(random_search), "");
}

TEST(WaitersInTheMemoryModel, NeedBothLooksBehindAPushAsTheyAre) {
  for (auto const order : {memory_order::acquire, memory_order::relaxed}) {
    Making const mistake({"none_sleeps_behind_push", "fetch_add", memory_order::seq_cst, order});
    EXPECT_NE(found_in<TwoTilesForTwoThatWait>(random_search), "")
        << "the next thread that sleeps does not see the push";
  }
  {
    Making const mistake({"none_sleeps_behind_push", "fetch_add", memory_order::seq_cst, memory_order::seq_cst, true});
    EXPECT_NE(found_in<TwoTilesForTwoThatWait>(random_search), "") << "it looks only at threads that sleep";
  }
  // A look in the one order of all would do, and costs no less than the addition on the processors that we have seen.
  Making const mistake({"one_watches_behind_push", "fetch_add", memory_order::seq_cst, memory_order::acquire, true});
  EXPECT_NE(found_in<TwoTilesForTwoThatWait>(random_search), "") << "it looks only at threads that watch";
}

TEST(WaitersInTheMemoryModel, NeedTheirCountAndTheEndOfTheWatch) {
  {
    Making const mistake({"add_sleeper", "fetch_add", memory_order::seq_cst, memory_order::release});
    EXPECT_NE(found_in<TwoTilesForTwoThatWait>(random_search), "")
        << "a thread that sleeps does not see what was pushed before";
  }
  Making const mistake({"end_watch", "exchange", memory_order::seq_cst, {}});
  EXPECT_NE(found_in<TwoTilesForTwoThatWait>(random_search), "") << "it watches for ever";
}

}  // namespace
}  // namespace penstock
