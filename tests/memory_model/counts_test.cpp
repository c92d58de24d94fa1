// SPDX-License-Identifier: Apache-2.0
// Counts of tiles that are out, and of records that a graph owes, under a checker of the memory model. An end that no
// thread is told of is a deadlock there.
#include <chrono>
#include <cstdint>
#include <memory>
#include <tuple>

#include "memory_model/modelled_atomics.hpp"
#include <gtest/gtest.h>

#include "engine/core/event_count.hpp"
#include "engine/core/loan_count.hpp"
#include "engine/flow/debts.hpp"

namespace penstock {
namespace {

using modelled::found_in;
using modelled::Making;
using modelled::random_search;
using std::memory_order;

/// Two threads have a tile each, and the first is lent another one meanwhile. The last waits until none is out, and
/// then writes to all that they have written to.
struct TilesThatComeHome : rl::test_suite<TilesThatComeHome, 3> {
  using Count = BasicLoanCount<modelled::Atomics>;
  std::unique_ptr<Count> count;
  std::unique_ptr<modelled::Atomics::Plain<int>[]> bytes;

  void before() {
    count = std::make_unique<Count>();
    bytes = std::make_unique<modelled::Atomics::Plain<int>[]>(2);
    for (unsigned i = 0; i < 2; ++i) bytes[i].write(0);
    count->lend();
    count->lend();
  }
  void thread(unsigned index) {
    if (index < 2) {
      if (index == 0) {
        count->lend();
        count->bring_home();
      }
      bytes[index].write(1);
      count->bring_home();
      return;
    }
    RL_ASSERT(count->wait_until_none(std::chrono::hours(1)));
    for (unsigned i = 0; i < 2; ++i) bytes[i].write(2);
  }
  void after() {
    RL_ASSERT(count->out() == 0);
    bytes.reset();
    count.reset();
  }
};

TEST(LoanCountInTheMemoryModel, TellsTheThreadThatWaitsOnceAllThatWasDoneIsSeen) {
  EXPECT_EQ(found_in<TilesThatComeHome>(random_search), "");
}

TEST(LoanCountInTheMemoryModel, NeedsItsOrders) {
  for (auto const& [function, operation, order] : {std::tuple{"bring_home", "fetch_add", memory_order::release},
                                                   {"wait_until_none", "fetch_add", memory_order::acquire},
                                                   {"wait_until_none", "load", memory_order::acquire}}) {
    Making const mistake({function, operation, order, memory_order::relaxed});
    EXPECT_NE(found_in<TilesThatComeHome>(random_search), "") << operation << " of " << function;
  }
  Making const mistake({"wait_until_none", "fetch_add", memory_order::acquire, {}});
  EXPECT_NE(found_in<TilesThatComeHome>(random_search), "") << "no thread knows that it waits";
}

/// One thread brings the only tile home, and the other ends what is gone behind it.
struct ATileBeforeAnEnd : rl::test_suite<ATileBeforeAnEnd, 2> {
  using Count = BasicLoanCount<modelled::Atomics>;
  std::unique_ptr<Count> count;
  std::unique_ptr<modelled::Atomics::Plain<int>[]> byte;

  void before() {
    count = std::make_unique<Count>();
    byte = std::make_unique<modelled::Atomics::Plain<int>[]>(1);
    byte[0].write(0);
    count->lend();
  }
  void thread(unsigned index) {
    if (index == 0) {
      byte[0].write(1);
      count->bring_home();
    } else if (count->out() == 0) {
      byte[0].write(2);
    }
  }
  void after() {
    byte.reset();
    count.reset();
  }
};

TEST(LoanCountInTheMemoryModel, SaysThatNoneIsOutWithAllThatWasDone) {
  EXPECT_EQ(found_in<ATileBeforeAnEnd>(), "");
  Making const mistake({"out", "load", memory_order::acquire, memory_order::relaxed});
  EXPECT_NE(found_in<ATileBeforeAnEnd>(), "");
}

/// Two threads settle a record each, the third owes one more, settles it and ends the input, and the last sleeps until
/// nothing is owed.
struct AGraphThatOwes : rl::test_suite<AGraphThatOwes, 4> {
  using Owed = BasicDebts<modelled::Atomics>;
  using Bell = BasicEventCount<modelled::Atomics>;
  std::unique_ptr<Owed> debts;
  std::unique_ptr<Bell> bell;
  std::unique_ptr<modelled::Atomics::Plain<int>[]> bytes;

  void before() {
    debts = std::make_unique<Owed>();
    bell = std::make_unique<Bell>();
    bytes = std::make_unique<modelled::Atomics::Plain<int>[]>(2);
    for (unsigned i = 0; i < 2; ++i) bytes[i].write(0);
    debts->open_input();
    debts->owe();
    debts->owe();
  }
  void thread(unsigned index) {
    if (index < 2) {
      bytes[index].write(1);
      if (debts->settle()) bell->notify();
    } else if (index == 2) {
      debts->owe();
      if (debts->settle()) bell->notify();
      if (debts->end_input()) bell->notify();
    } else {
      for (bool over = false; !over;) {
        auto const key = bell->prepare();
        over = debts->none();
        over ? bell->cancel() : bell->wait(key, std::chrono::hours(1));
      }
      for (unsigned i = 0; i < 2; ++i) bytes[i].write(2);
    }
  }
  void after() {
    RL_ASSERT(debts->none());
    bytes.reset();
    bell.reset();
    debts.reset();
  }
};

TEST(DebtsInTheMemoryModel, TellOneThreadThatNothingIsOwed) {
  EXPECT_EQ(found_in<AGraphThatOwes>(random_search), "");
}

TEST(DebtsInTheMemoryModel, NeedTheirOrders) {
  Making const unseen({"settle", "fetch_add", memory_order::seq_cst, memory_order::relaxed});
  EXPECT_NE(found_in<AGraphThatOwes>(random_search), "") << "what was done before a record was settled is not seen";
}

TEST(DebtsInTheMemoryModel, NeedTheirLooksInOneOrder) {
  for (auto const& [function, operation, becomes] : {std::tuple{"end_input", "fetch_sub", memory_order::release},
                                                     {"settle", "fetch_add", memory_order::acq_rel},
                                                     {"none", "load", memory_order::acquire}}) {
    Making const mistake({function, operation, memory_order::seq_cst, becomes});
    EXPECT_NE(found_in<AGraphThatOwes>(random_search), "") << operation << " of " << function;
  }
}

}  // namespace
}  // namespace penstock
