// SPDX-License-Identifier: Apache-2.0
// The turnstile before lanes whose stages see tiles in order, under a checker of the memory model.
#include "engine/flow/turnstile.hpp"

#include <cstddef>
#include <memory>
#include <tuple>

#include "memory_model/modelled_atomics.hpp"
#include <gtest/gtest.h>

namespace penstock {
namespace {

using modelled::found_in;
using modelled::Making;
using modelled::random_search;
using std::memory_order;

/// Three threads bring an item each, the last one first or the first one first, and each writes to its item before.
struct ThreeBringers : rl::test_suite<ThreeBringers, 3> {
  using Item = modelled::Atomics::Plain<int>;
  using Gate = BasicTurnstile<Item, modelled::Atomics>;
  std::unique_ptr<Gate> turnstile;
  std::unique_ptr<Item[]> items;
  std::unique_ptr<Item> passed;  ///< Number that have passed, for the thread that lets them.

  void before() {
    turnstile = std::make_unique<Gate>(3);
    items = std::make_unique<Item[]>(3);
    for (std::size_t i = 0; i < 3; ++i) items[i].write(-1);
    passed = std::make_unique<Item>();
    passed->write(0);
  }
  void thread(unsigned index) {
    items[index].write(static_cast<int>(index));
    turnstile->bring(items[index], index, [this](Item& item) {
      RL_ASSERT(item.read() == passed->read());
      passed->write(passed->read() + 1);
    });
  }
  void after() {
    RL_ASSERT(passed->read() == 3);
    passed.reset();
    items.reset();
    turnstile.reset();
  }
};

TEST(TurnstileInTheMemoryModel, LetsAllPassInTheirSequenceWithAllThatWasDone) {
  EXPECT_EQ(found_in<ThreeBringers>(random_search), "");
}

TEST(TurnstileInTheMemoryModel, NeedsItsOrders) {
  for (auto const& [function, operation, order] : {std::tuple{"bring", "store", memory_order::release},
                                                   {"bring", "fetch_add", memory_order::acq_rel},
                                                   {"bring", "fetch_sub", memory_order::acq_rel}}) {
    Making const mistake({function, operation, order, memory_order::relaxed});
    EXPECT_NE(found_in<ThreeBringers>(random_search), "") << operation << " of " << function;
  }
}

}  // namespace
}  // namespace penstock
