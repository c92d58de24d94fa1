// SPDX-License-Identifier: Apache-2.0
// Classes that threads sleep on, as they are, under a checker of the memory model. A lost wake-up is a deadlock there.
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>

#include "memory_model/modelled_atomics.hpp"
#include <gtest/gtest.h>

#include "engine/core/event_count.hpp"
#include "engine/core/rundown.hpp"

namespace penstock {
namespace {

using modelled::found_in;
using modelled::Making;
using modelled::random_search;
using std::memory_order;

/// A thread that sleeps until two others have each changed something and rung.
template <int notifiers>
struct ASleeper : rl::test_suite<ASleeper<notifiers>, notifiers + 1> {
  using Bell = BasicEventCount<modelled::Atomics>;
  std::unique_ptr<Bell> bell;
  std::unique_ptr<modelled::Atomics::Atomic<unsigned>[]> changed;

  void before() {
    bell = std::make_unique<Bell>();
    changed = std::make_unique<modelled::Atomics::Atomic<unsigned>[]>(std::size_t{notifiers});
  }
  bool all_changed() {
    for (unsigned i = 0; i < unsigned{notifiers}; ++i) {
      if (changed[i].load(memory_order::relaxed) == 0) return false;
    }
    return true;
  }
  void thread(unsigned index) {
    if (index < unsigned{notifiers}) {
      changed[index].store(1, memory_order::relaxed);
      bell->notify();
      return;
    }
    for (bool ready = false; !ready;) {
      auto const key = bell->prepare();
      ready = all_changed();
      ready ? bell->cancel() : bell->wait(key, std::chrono::hours(1));
    }
  }
  void after() {
    changed.reset();
    bell.reset();
  }
};

TEST(EventCountInTheMemoryModel, LosesNoWakeUp) {
  EXPECT_EQ(found_in<ASleeper<1>>(), "") << "in any order";
  EXPECT_EQ(found_in<ASleeper<2>>(random_search), "");
}

// Relacy has nothing to say of the other two: it lets no look pass a change that was issued before it, and the kernel
// compares the key with the latest epoch.
TEST(EventCountInTheMemoryModel, NeedsItsCountItsLookForWaitersAndItsEpoch) {
  for (auto const& [function, operation, becomes] :
       {std::tuple{"prepare", "fetch_add", memory_order::acq_rel}, {"notify", "load", memory_order::acquire}}) {
    Making const mistake({function, operation, memory_order::seq_cst, becomes});
    EXPECT_NE(found_in<ASleeper<1>>(random_search), "") << operation << " of " << function;
  }
  Making const mistake({"notify", "fetch_add", memory_order::seq_cst, {}});
  EXPECT_NE(found_in<ASleeper<1>>(random_search), "") << "without a new epoch";
}

/// One thread closes, and then writes to what two others touch while they are inside.
struct AnEnd : rl::test_suite<AnEnd, 3> {
  using Guard = BasicRundown<modelled::Atomics, 2>;
  std::unique_ptr<Guard> rundown;
  std::unique_ptr<modelled::Atomics::Plain<int>[]> bytes;

  void before() {
    rundown = std::make_unique<Guard>(false);
    bytes = std::make_unique<modelled::Atomics::Plain<int>[]>(3);
    for (unsigned i = 0; i < 3; ++i) bytes[i].write(0);
    rundown->open();
  }
  void thread(unsigned index) {
    if (index == 0) {
      RL_ASSERT(rundown->close());
      for (unsigned i = 1; i < 3; ++i) bytes[i].write(-1);
      return;
    }
    for (int i = 0; i < 2; ++i) {
      Guard::Pass const in(*rundown);
      if (!in) continue;
      RL_ASSERT(bytes[index].read() >= 0);
      bytes[index].write(1);
    }
  }
  void after() {
    bytes.reset();
    rundown.reset();
  }
};

TEST(RundownInTheMemoryModel, HasNoThreadInsideOnceItIsClosedAndLosesNoWakeUp) {
  EXPECT_EQ(found_in<AnEnd>(random_search), "");
}

TEST(RundownInTheMemoryModel, NeedsItsOrdersAndItsLookAtTheWord) {
  for (auto const& [function, operation, order] :
       {std::tuple{"leave", "fetch_sub", memory_order::release}, {"close", "load", memory_order::acquire}}) {
    Making const mistake({function, operation, order, memory_order::relaxed});
    EXPECT_NE(found_in<AnEnd>(random_search), "") << operation << " of " << function;
  }
  Making const mistake({"close", "fetch_or", memory_order::relaxed, {}});
  EXPECT_NE(found_in<AnEnd>(random_search), "") << "not closed";
}

}  // namespace
}  // namespace penstock
