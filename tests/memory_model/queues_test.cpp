// SPDX-License-Identifier: Apache-2.0
// The queues as they are, under a checker of the memory model, with counts so narrow that they wrap around.
#include <array>
#include <cstdint>
#include <memory>
#include <tuple>

#include "memory_model/modelled_atomics.hpp"
#include <gtest/gtest.h>

#include "engine/core/mailbox.hpp"
#include "engine/core/tile_queue.hpp"
#include "engine/flow/tile_record.hpp"

namespace penstock {
namespace {

using modelled::found_in;
using modelled::Making;
using modelled::random_search;
using std::memory_order;

/// Two writers of a mailbox and its reader.
template <std::size_t capacity, int pushes>
struct TwoWritersAndAReader : rl::test_suite<TwoWritersAndAReader<capacity, pushes>, 3> {
  using Box = Mailbox<int, modelled::Atomics, std::uint8_t>;
  std::unique_ptr<Box> box;
  int next[2] = {};      // Item that each writer's next must be.
  int accepted[2] = {};  // Items that the mailbox took.

  void before() {
    box = std::make_unique<Box>(capacity);
    for (int i = 0; i < 15; ++i) {  // A half of the word counts sixteen.
      RL_ASSERT(box->push(i));
      RL_ASSERT(box->pop() == i);
    }
  }
  bool take() {
    auto const item = box->pop();
    if (!item) return false;
    RL_ASSERT(*item % 16 == next[*item / 16]++);
    return true;
  }
  void thread(unsigned index) {
    for (int i = 0; i < pushes; ++i) {
      if (index == 2) {
        take();
      } else if (box->push(static_cast<int>(16 * index) + accepted[index])) {
        ++accepted[index];
      }
    }
  }
  void after() {
    while (take()) {
    }
    RL_ASSERT(next[0] == accepted[0] && next[1] == accepted[1]);
    RL_ASSERT(box->empty());
    for (std::size_t i = 0; i < capacity; ++i) RL_ASSERT(box->push(0));
    RL_ASSERT(!box->push(0));
    box.reset();
  }
};

TEST(MailboxInTheMemoryModel, LosesAndDoublesNothingInAnyOrderOfOneStepEach) {
  EXPECT_EQ((found_in<TwoWritersAndAReader<1, 1>>()), "");
}

TEST(MailboxInTheMemoryModel, LosesAndDoublesNothingInManyOrdersOfThreeStepsEach) {
  EXPECT_EQ((found_in<TwoWritersAndAReader<1, 3>>(random_search)), "");
  EXPECT_EQ((found_in<TwoWritersAndAReader<2, 3>>(random_search)), "");
}

TEST(MailboxInTheMemoryModel, NeedsEachOfItsOrders) {
  for (auto const& [function, operation, order] : {std::tuple{"push", "compare_exchange", memory_order::acquire},
                                                   {"push", "store", memory_order::release},
                                                   {"pop", "fetch_add", memory_order::release},
                                                   {"empty", "load", memory_order::acquire}}) {
    Making const mistake({function, operation, order, memory_order::relaxed});
    EXPECT_NE((found_in<TwoWritersAndAReader<1, 3>>(random_search)), "") << operation << " of " << function;
  }
}

/// Three threads, each of which has a tile and brings it home, twice.
template <std::uint32_t tiles>
struct ThreeBorrowers : rl::test_suite<ThreeBorrowers<tiles>, 3> {
  using Queue = BasicTileQueue<modelled::Atomics, std::uint8_t>;
  std::unique_ptr<Queue> queue;
  std::unique_ptr<modelled::Atomics::Plain<int>[]> bytes;

  void before() {
    queue = std::make_unique<Queue>(tiles);
    bytes = std::make_unique<modelled::Atomics::Plain<int>[]>(tiles);
    for (std::uint32_t i = 0; i < tiles; ++i) {
      bytes[i].write(0);
      queue->push(i);
    }
    // The queue counts 256 places.
    for (int i = 0; i < 251; ++i) queue->push(*queue->pop());
  }
  void thread(unsigned) {
    for (int i = 0; i < 2; ++i) {
      auto const tile = queue->pop();
      if (!tile) continue;
      bytes[*tile].write(bytes[*tile].read() + 1);
      queue->push(*tile);
    }
  }
  void after() {
    unsigned home = 0;
    while (auto const tile = queue->pop()) home |= 1U << *tile;
    RL_ASSERT(home == (1U << tiles) - 1);
    bytes.reset();
    queue.reset();
  }
};

/// A thread that has popped nothing yet, beside one that has a tile out at most: of two tiles one is always home.
struct AFirstLook : rl::test_suite<AFirstLook, 2> {
  using Queue = BasicTileQueue<modelled::Atomics, std::uint16_t>;
  std::unique_ptr<Queue> queue;

  void before() {
    queue = std::make_unique<Queue>(2);
    queue->push(0);
    queue->push(1);
  }
  void thread(unsigned index) {
    if (index == 0) {
      RL_ASSERT(queue->pop().has_value());
      return;
    }
    for (int i = 0; i < 2; ++i) {
      if (auto const tile = queue->pop()) queue->push(*tile);
    }
  }
  void after() { queue.reset(); }
};

TEST(TileQueueInTheMemoryModel, LosesAndDoublesNoTile) {
  EXPECT_EQ(found_in<ThreeBorrowers<1>>(random_search), "");
  EXPECT_EQ(found_in<ThreeBorrowers<3>>(random_search), "");
}

TEST(TileQueueInTheMemoryModel, FindsATileThatIsHome) {
  EXPECT_EQ(found_in<AFirstLook>(random_search), "");
}

TEST(TileQueueInTheMemoryModel, NeedsItsOrdersAndItsSecondLook) {
  {
    Making const mistake({"push", "store", memory_order::release, memory_order::relaxed});
    EXPECT_NE(found_in<ThreeBorrowers<1>>(random_search), "");
  }
  {
    Making const mistake({"pop", "load", memory_order::acquire, memory_order::relaxed});
    EXPECT_NE(found_in<ThreeBorrowers<1>>(random_search), "");
  }
  Making const mistake({"pop", "load", memory_order::acquire, {}});
  EXPECT_NE(found_in<AFirstLook>(random_search), "");
}

/// Two writers and a consumer of items that wait together.
struct TwoWhoArrive : rl::test_suite<TwoWhoArrive, 3> {
  struct Item {
    struct Next {
      modelled::Atomics::Plain<Item*> pointer;
      Next& operator=(Item* item) {
        pointer.write(item);
        return *this;
      }
      operator Item*() const { return pointer.read(); }
    } next;
    modelled::Atomics::Plain<int> bytes;
  };
  using Waiting = BasicArrivals<Item, modelled::Atomics>;
  std::unique_ptr<Waiting> arrivals;
  std::unique_ptr<Item[]> items;
  int sent_for = 0, times = 0, seen = 0;

  void before() {
    arrivals = std::make_unique<Waiting>();
    items = std::make_unique<Item[]>(4);
  }
  void take() {
    int last[2] = {-1, -1};
    Item* item = arrivals->take();
    if (item != nullptr) ++times;
    for (; item != nullptr; item = item->next) {
      int const number = item->bytes.read();
      RL_ASSERT(last[number / 2] < number);
      last[number / 2] = number;
      ++seen;
    }
  }
  void thread(unsigned index) {
    for (unsigned i = 0; i < 2; ++i) {
      if (index == 2) {
        take();
      } else {
        items[2 * index + i].bytes.write(static_cast<int>(2 * index + i));
        if (arrivals->push(items[2 * index + i])) ++sent_for;
      }
    }
  }
  void after() {
    take();
    RL_ASSERT(seen == 4 && sent_for == times);
    items.reset();
    arrivals.reset();
  }
};

TEST(ArrivalsInTheMemoryModel, LoseNoItemAndSendForTheConsumerOnceForAllThatCameTogether) {
  EXPECT_EQ(found_in<TwoWhoArrive>(random_search), "");
}

TEST(ArrivalsInTheMemoryModel, NeedTheirOrders) {
  {
    Making const mistake({"push", "compare_exchange", memory_order::release, memory_order::relaxed});
    EXPECT_NE(found_in<TwoWhoArrive>(random_search), "");
  }
  Making const mistake({"take", "exchange", memory_order::acquire, memory_order::relaxed});
  EXPECT_NE(found_in<TwoWhoArrive>(random_search), "");
}

}  // namespace
}  // namespace penstock
