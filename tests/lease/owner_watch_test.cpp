// SPDX-License-Identifier: Apache-2.0
// A look at the owners that is old by the time it is used.
#include "lease/owner_watch.hpp"

#include <atomic>
#include <chrono>
#include <string>

#include "lease/ledger_world.hpp"
#include "lease/sqlite_owner.hpp"
#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock {
namespace {

using support::numbered_work;
using support::settle_all;
using testing::IsEmpty;
using testing::SizeIs;
using Kind = Settlement::Kind;

/// A watch that sees an owner of two leases as gone, and acts on that only later.
struct AnOldView : support::FolderOfFiles {
  std::atomic<std::chrono::nanoseconds> now{std::chrono::hours(1)};
  std::shared_ptr<LedgerStore> store;
  std::unique_ptr<SqliteOwner> owner;
  std::vector<Lease> held;
  std::vector<OwnerWatch::Gone> view;

  void SetUp() override {
    FolderOfFiles::SetUp();
    store = LedgerStore::open(path("ledger"), {.clock = [this] { return now.load(); }});
    in_a_transaction([&] {
      for (LeaseWork const& work : numbered_work(4)) store->leases.enqueue(work);
    });
    owner = std::make_unique<SqliteOwner>(store, OwnerOptions{.silence = std::chrono::seconds(30)});
    held = owner->exchange({}, 2).taken;
    now = now.load() + std::chrono::seconds(31);
    in_a_transaction([&] { view = store->watch.look(); });
    ASSERT_THAT(view, SizeIs(1));
  }
  void TearDown() override {
    owner.reset();
    store.reset();
    FolderOfFiles::TearDown();
  }

  template <class Body>
  void in_a_transaction(Body const& body) const {
    LedgerSession const session(store->file);
    SqliteTransaction transaction(store->file.connection());
    body();
    transaction.commit();
  }
  void act_on_it() {
    in_a_transaction([&] { store->watch.let_go(view); });
  }
};

TEST_F(AnOldView, IsActedOnIfNothingHappened) {
  act_on_it();
  EXPECT_THAT(owner->exchange(settle_all(held, Kind::acknowledge), 0).refused, SizeIs(2));
}

/// Seen to fail where owners were forgotten by their number alone.
TEST_F(AnOldView, ChangesNothingForAnOwnerThatWasHeardFromMeanwhile) {
  owner->keep_alive();
  act_on_it();
  EXPECT_THAT(owner->exchange(settle_all(held, Kind::acknowledge), 0).refused, IsEmpty());
}

TEST_F(AnOldView, ChangesNoLeaseThatWasSettledOrTakenMeanwhile) {
  auto const next = owner->exchange(settle_all(held, Kind::acknowledge), 2).taken;
  act_on_it();
  EXPECT_THAT(owner->exchange(settle_all(next, Kind::acknowledge), 0).refused, IsEmpty());
}

TEST_F(AnOldView, ChangesNothingOfWhatAnotherOwnerHasByNow) {
  SqliteOwner other(store, {});
  auto const taken = other.exchange({}, 16).taken;
  ASSERT_THAT(taken, SizeIs(1)) << "a suspect, alone";
  act_on_it();
  EXPECT_THAT(other.exchange(settle_all(taken, Kind::acknowledge), 0).refused, IsEmpty());
}

}  // namespace
}  // namespace penstock
