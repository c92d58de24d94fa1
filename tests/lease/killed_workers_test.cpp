// SPDX-License-Identifier: Apache-2.0
// Processes that are killed while they work on one ledger.
#include <csignal>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "lease/ledger_world.hpp"
#include "lease/worker_process.hpp"
#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/lease/sqlite_ledger.hpp"

namespace penstock {
namespace {

using support::WorkerProcess;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

/// Processes on a ledger. At the end each lease is answered once, and right, or parked.
struct KilledWorkers : support::FolderOfFiles {
  static constexpr std::uint32_t most_tries = 12;
  std::string name, log;
  std::optional<SqliteLedger> ledger;

  void SetUp() override {
    FolderOfFiles::SetUp();
    name = path("ledger");
    log = path("log");
    ledger.emplace(name, LedgerOptions{.most_tries = most_tries});
  }
  void TearDown() override {
    LedgerProgress const all = ledger->progress();
    EXPECT_TRUE(all.finished()) << describe(all);
    EXPECT_EQ(all.done + all.parked, all.leases);
    auto const parked = ledger->parked();
    std::set<std::uint64_t> ended;
    for (ParkedLease const& one : parked) ended.insert(one.number);
    for (LeaseAnswer const& one : ledger->answers(0, all.leases)) {
      EXPECT_TRUE(ended.insert(one.number).second) << one.number << " twice";
      EXPECT_EQ(one.answer, "of " + std::to_string(one.number));
    }
    EXPECT_EQ(ended.size(), all.leases);
    ledger.reset();
    FolderOfFiles::TearDown();
  }

  std::unique_ptr<WorkerProcess> worker(std::uint64_t dies_at_step = 0) const {
    std::vector<std::string> words{name, "work", log};
    if (dies_at_step != 0) words.push_back(std::to_string(dies_at_step));
    return std::make_unique<WorkerProcess>(words);
  }
  /// How often each lease was worked on.
  std::map<std::uint64_t, std::size_t> worked_on() const {
    std::map<std::uint64_t, std::size_t> times;
    std::ifstream lines(log);
    for (std::uint64_t number = 0; lines >> number;) ++times[number];
    return times;
  }
};

/// Seen to fail where answers and takes were two transactions and the worker did not ask what was refused, and where
/// synchronous takes were recorded after the work.
TEST_F(KilledWorkers, AnswerEachLeaseOnceWhateverStepTheyAreKilledAt) {
  constexpr std::size_t leases = 400;
  ledger->enqueue(support::numbered_work(leases), true);
  std::mt19937 random(20261130);
  int killed = 0;
  while (killed < 40) {
    // Two at a time, so that one meets what the other left behind.
    auto const first = worker(1 + random() % 120), second = worker(1 + random() % 120);
    int const ends[] = {first->wait(), second->wait()};
    for (int const end : ends) {
      EXPECT_TRUE(end == 0 || end == -SIGKILL) << end;
      killed += end == -SIGKILL ? 1 : 0;
    }
    if (ledger->progress().finished()) break;
  }
  // The first two have steps for less than all leases.
  EXPECT_GE(killed, 2);
  EXPECT_EQ(worker()->wait(), 0);
  std::size_t twice = 0;
  for (auto const& [number, times] : worked_on()) twice += times - 1;
  RecordProperty("worked on again", static_cast<int>(twice));
  EXPECT_THAT(ledger->parked(), SizeIs(0));
}

/// Seen to fail where suspects went out in batches.
TEST_F(KilledWorkers, ParkWhatKillsThemAndNothingElse) {
  auto work = support::numbered_work(100);
  for (std::size_t const guilty : {10U, 50U, 51U}) work[guilty - 1].payload = "kill";
  ledger->enqueue(work, true);
  int deaths = 0;
  while (worker()->wait() != 0) ASSERT_LE(++deaths, static_cast<int>(3 * most_tries));
  auto const parked = ledger->parked();
  ASSERT_THAT(parked, SizeIs(3));
  EXPECT_EQ(parked[0].number, 10U);
  EXPECT_EQ(parked[1].number, 50U);
  EXPECT_EQ(parked[2].number, 51U);
  EXPECT_EQ(parked[0].tries, most_tries);
  EXPECT_THAT(parked[0].reason, HasSubstr("ended without giving it back"));
  // What was in a batch with one of them was begun twice at most for each.
  for (auto const& [number, times] : worked_on()) EXPECT_LE(times, 3U) << number;
}

/// A process that is stopped, and wakes after another was given what it had.
TEST_F(KilledWorkers, AreRefusedWhatTheySettleAfterTheyWereStopped) {
  ledger->enqueue(support::numbered_work(2), true);
  auto const late = std::make_unique<WorkerProcess>(std::vector<std::string>{name, "silence", "30000"});
  EXPECT_EQ(late->ask("take 1"), "taken 1");
  late->stop();
  // Its own clock is the machine's; this one is a century later.
  SqliteLedger later(name, {.clock = [] { return std::chrono::hours(24 * 365 * 100); }});
  auto const owner = later.join();
  auto const taken = owner->exchange({}, 16).taken;
  ASSERT_THAT(support::numbers_of(taken), ElementsAre(1));
  auto const rest = owner->exchange(support::settle_all(taken, Settlement::Kind::acknowledge), 16).taken;
  late->send(SIGCONT);
  EXPECT_EQ(late->ask("acknowledge"), "refused 0");
  EXPECT_EQ(late->ask("leave"), "taken");
  EXPECT_EQ(late->wait(), 0);
  owner->exchange(support::settle_all(rest, Settlement::Kind::acknowledge), 0);
}

/// No time is involved: the process that follows looks once.
TEST_F(KilledWorkers, LoseWhatTheyHadAtOnce) {
  ledger->enqueue(support::numbered_work(20), true);
  WorkerProcess doomed({name});
  EXPECT_EQ(doomed.ask("take 2"), "taken 1 2");
  doomed.kill(SIGKILL);
  WorkerProcess next({name});
  EXPECT_EQ(next.ask("take 16"), "taken 1");
  EXPECT_EQ(next.ask("acknowledge"), "taken");
  EXPECT_EQ(next.ask("leave"), "taken");
  EXPECT_EQ(next.wait(), 0);
  EXPECT_EQ(worker()->wait(), 0);
}

}  // namespace
}  // namespace penstock
