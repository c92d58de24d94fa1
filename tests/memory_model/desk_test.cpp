// SPDX-License-Identifier: Apache-2.0
// The desks on which writers leave packs of records, as they are, under a checker of the memory model. No pack may lie
// there while lanes are hungry, leave twice, or be sent before it can be read.
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <tuple>

#include "memory_model/modelled_atomics.hpp"
#include <gtest/gtest.h>

#include "records/departures.hpp"

namespace penstock {
namespace {

using modelled::found_in;
using modelled::Making;
using modelled::random_search;
using std::memory_order;

/// Packs with a record each, which is one byte; and the desk of one writer.
struct Packs {
  using Office = BasicDepartures<modelled::Atomics>;
  static constexpr std::size_t most = 3;
  /// One of these is under way from the start, and the lanes are hungry once there is none.
  static constexpr std::size_t hungry_below = 1;

  std::unique_ptr<modelled::Atomics::Plain<int>[]> bytes;
  std::unique_ptr<Pack[]> packs;
  std::unique_ptr<Office> office;
  BasicDesk<modelled::Atomics>* desk = nullptr;
  int put = 0;   // Packs that have been given to the desk.
  int sent = 0;  // Packs that have left.
  bool watch_ends_with_a_pack = false;

  explicit Packs(std::chrono::nanoseconds linger = std::chrono::hours(24))
      : bytes(std::make_unique<modelled::Atomics::Plain<int>[]>(most)),
        packs(std::make_unique<Pack[]>(most)),
        office(std::make_unique<Office>(
            Office::Rules{.hungry_below = hungry_below, .linger = linger},
            [this](Pack& pack, Departure) { leave(pack); }, [this](Pack& claimed, Pack*) { return divided(claimed); })),
        desk(&office->take_desk()) {
    for (std::size_t i = 0; i < most; ++i) bytes[i].write(0);
    bytes[most - 1].write(1);
    office->send(packs[most - 1], Departure::asked);
  }

  std::size_t index_of(Pack const& pack) const { return static_cast<std::size_t>(&pack - packs.get()); }
  void leave(Pack& pack) {
    std::size_t const index = index_of(pack);
    RL_ASSERT(bytes[index].read() == 1);
    bytes[index].write(2);
    ++sent;
    if (watch_ends_with_a_pack) office->end_watch();
  }
  /// The record moves into the second pack.
  Pack* divided(Pack& claimed) {
    std::size_t const from = index_of(claimed);
    RL_ASSERT(bytes[from].read() == 1);
    bytes[from].write(0);
    packs[1].since = claimed.since;
    bytes[1].write(1);
    return &packs[1];
  }
  /// Puts a record into the pack on the desk, or into `fresh` if none is there. Returns false if the desk is closed.
  bool write(Pack& fresh) {
    auto const own = office->take_up(*desk);
    if (!own) return false;
    Pack* const pack = *own != nullptr ? *own : &fresh;
    if (*own == nullptr) {
      ++put;
    } else {
      RL_ASSERT(bytes[index_of(*pack)].read() == 1);
    }
    bytes[index_of(*pack)].write(1);
    office->put_down(*desk, pack);
    return true;
  }
  bool desk_is_empty() const { return desk->pack.load(memory_order::seq_cst) == nullptr; }
};

/// Calls that relacy makes around its `threads` threads.
template <class World, int threads>
struct AtTheDesk : rl::test_suite<World, threads> {
  std::unique_ptr<Packs> here;
  std::chrono::nanoseconds linger = std::chrono::hours(24);

  void before() { here = std::make_unique<Packs>(linger); }
  void after() {
    RL_ASSERT(here->desk_is_empty());
    RL_ASSERT(here->sent == here->put + 1);
    here.reset();
  }
};

/// The last tile under way comes back while a writer puts a pack down.
struct ATileComesBack : AtTheDesk<ATileComesBack, 2> {
  void thread(unsigned index) {
    if (index == 0) {
      here->write(here->packs[0]);
    } else {
      here->office->returned();
    }
  }
};

/// It is closed while a writer writes, and another thread sends what lies on the desk.
struct AClose : AtTheDesk<AClose, 3> {
  void thread(unsigned index) {
    if (index == 0) {
      here->write(here->packs[0]) && here->write(here->packs[1]);
    } else if (index == 1) {
      here->office->send_from(*here->desk, Departure::late);
    } else {
      here->office->close();
      RL_ASSERT(here->sent == here->put + 1);
    }
  }
};

/// The last tile under way comes back while a writer fills room beside a record.
struct AClaim : AtTheDesk<AClaim, 2> {
  void thread(unsigned index) {
    if (index == 1) {
      here->office->returned();
      return;
    }
    Pack& pack = here->packs[0];
    auto const own = here->office->take_up(*here->desk);
    RL_ASSERT(own && *own == nullptr);
    pack.since = Packs::Office::Clock::now();
    here->bytes[0].write(1);
    ++here->put;
    here->office->open_claim(*here->desk, pack);
    here->desk->claim.close();
    bool const left = here->bytes[0].read() == 0;
    here->office->put_down(*here->desk, left ? nullptr : &pack);
  }
};

/// A pack is late at once and the lanes are not hungry, so only the thread that watches sends it.
struct AWatch : AtTheDesk<AWatch, 2> {
  AWatch() { linger = -std::chrono::hours(1); }  // A pack is late at once, whatever the clock says.
  void before() {
    AtTheDesk::before();
    here->watch_ends_with_a_pack = true;
  }
  void thread(unsigned index) {
    if (index == 0) {
      here->write(here->packs[0]);
    } else {
      here->office->watch();
    }
  }
};

TEST(DeskInTheMemoryModel, KeepsNoPackWhileLanesAreHungry) {
  EXPECT_EQ(found_in<ATileComesBack>({.type = rl::sched_bound}), "") << "in any order of two changes of thread";
  EXPECT_EQ(found_in<ATileComesBack>(random_search), "");
  EXPECT_EQ(found_in<AClaim>(random_search), "");
}

TEST(DeskInTheMemoryModel, IsEmptyAndAllIsSentOnceItIsClosed) {
  EXPECT_EQ(found_in<AClose>(random_search), "");
}

TEST(DeskInTheMemoryModel, WakesTheThreadThatWatches) {
  EXPECT_EQ(found_in<AWatch>(random_search), "");
}

/// An order of memory that is enough for nothing but the operation itself.
modelled::Mistake relaxed(char const* function, char const* operation, memory_order is = memory_order::seq_cst) {
  return {function, operation, is, memory_order::relaxed};
}

TEST(DeskInTheMemoryModel, NeedsTheOrdersByWhichAPackIsFoundOrTheLanesAreSeenToBeHungry) {
  for (auto const& [function, operation] :
       {std::tuple{"put_down", "store"}, {"returned", "fetch_sub"}, {"send_waiting", "load"}}) {
    Making const mistake(relaxed(function, operation));
    EXPECT_NE(found_in<ATileComesBack>(random_search), "") << operation << " of " << function;
  }
  for (auto const& [function, operation, is] : {std::tuple{"open", "store", memory_order::seq_cst},
                                                {"oldest", "load", memory_order::seq_cst},
                                                {"close", "compare_exchange", memory_order::acq_rel}}) {
    Making const mistake(relaxed(function, operation, is));
    EXPECT_NE(found_in<AClaim>(random_search), "") << operation << " of " << function;
  }
}

TEST(DeskInTheMemoryModel, NeedsTheOrdersByWhichACloseWaitsForWritersAndSenders) {
  for (auto const& [function, operation] : {std::tuple{"take_up", "exchange"},
                                            {"take_pack", "compare_exchange"},
                                            {"done_sending", "fetch_sub"},
                                            {"close", "store"},
                                            {"closed", "load"}}) {
    Making const mistake(relaxed(function, operation));
    EXPECT_NE(found_in<AClose>(random_search), "") << operation << " of " << function;
  }
}

TEST(DeskInTheMemoryModel, NeedsTheOrdersByWhichTheWatchIsWoken) {
  for (auto const& [function, operation] : {std::tuple{"put_down", "store"}, {"watch", "store"}, {"wake", "load"}}) {
    Making const mistake(relaxed(function, operation));
    EXPECT_NE(found_in<AWatch>(random_search), "") << operation << " of " << function;
  }
}

}  // namespace
}  // namespace penstock
