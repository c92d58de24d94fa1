// SPDX-License-Identifier: Apache-2.0
// A PostgreSQL server that is killed while processes work on a ledger in it.
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string_view>
#include <thread>

#include "lease/ledger_world.hpp"
#include "lease/postgres_server.hpp"
#include "lease/until_there.hpp"
#include "lease/worker_process.hpp"
#include "support/folder_of_files.hpp"
#include "support/gate.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/lease/lease_source.hpp"
#include "penstock/lease/postgres_ledger.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using support::numbers_of;
using support::settle_all;
using support::WorkerProcess;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Kind = Settlement::Kind;

/// Processes on a ledger, and a server of this test's own. At the end each lease is answered once, and right, or
/// parked.
struct AServerThatIsKilled : support::FolderOfFiles {
  static constexpr std::uint32_t most_tries = 12;
  support::PostgresServer server;
  std::string const name = server.address("chaos");
  std::optional<PostgresLedger> ledger{std::in_place, name, LedgerOptions{.most_tries = most_tries}};

  void SetUp() override {
    FolderOfFiles::SetUp();
    EXPECT_EQ(server.ask("select grace from chaos.ledger"), "10000000000");
    // It ends when a test says so, however slow the machine is.
    server.ask("update chaos.ledger set grace = 3600000000000");
  }
  void TearDown() override {
    LedgerProgress const all = progress();
    EXPECT_TRUE(all.finished()) << describe(all);
    EXPECT_EQ(all.done + all.parked, all.leases);
    // They are counted when they change.
    EXPECT_EQ(server.ask("select count(*) from chaos.lease where state = 2"), std::to_string(all.done));
    EXPECT_EQ(server.ask("select coalesce(sum(greatest(tries - 1, 0)), 0) from chaos.lease"),
              std::to_string(all.retries));
    std::set<std::uint64_t> ended;
    for (ParkedLease const& one : until_there([&] { return ledger->parked(); })) ended.insert(one.number);
    for (LeaseAnswer const& one : until_there([&] { return ledger->answers(0, all.leases); })) {
      EXPECT_TRUE(ended.insert(one.number).second) << one.number << " twice";
      EXPECT_EQ(one.answer, "of " + std::to_string(one.number));
    }
    EXPECT_EQ(ended.size(), all.leases);
    ledger.reset();
    FolderOfFiles::TearDown();
  }
  std::unique_ptr<WorkerProcess> worker(std::uint64_t dies_at_step = 0) const {
    std::vector<std::string> words{name, "work", path("log")};
    if (dies_at_step != 0) words.push_back(std::to_string(dies_at_step));
    return std::make_unique<WorkerProcess>(words);
  }
  // A server that is slow, or a thread that is stopped, may take longer than one call waits.
  LedgerProgress progress() {
    return until_there([&] { return ledger->progress(); });
  }
  std::unique_ptr<LeaseOwner> join() {
    return until_there([&] { return ledger->join(); });
  }
  static Exchange exchange(LeaseOwner& owner, std::span<Settlement const> settlements, std::size_t most) {
    return until_there([&] { return owner.exchange(settlements, most); });
  }
  void kill_and_start() {
    server.kill();
    server.start();
  }
  /// Returns once this process has ended, or has the lock of its owner again.
  void await_lock(WorkerProcess const& one) const {
    siginfo_t end{};
    std::string const without_lock =
        "select count(*) from chaos.owner where process like '" + std::to_string(one.id()) +
        " on %' and id not in (select objid::bigint from pg_locks where locktype = 'advisory')";
    while (waitid(P_PID, static_cast<id_t>(one.id()), &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid == 0 &&
           server.ask(without_lock) != "0")
      std::this_thread::yield();
  }
  /// From now on a session that is gone means that its process is.
  void end_grace() const { server.ask("update chaos.ledger set grace = -1"); }
};

/// Seen to fail where the second call of an exchange refused what the first had settled, and where answers and takes
/// were recorded after the work.
TEST_F(AServerThatIsKilled, LosesNoAnswerAndHasNoneTwice) {
  constexpr std::size_t leases = 600;
  ledger->enqueue(support::numbered_work(leases), true);
  std::mt19937 random(20261130);
  int died = 0;
  std::vector<std::unique_ptr<WorkerProcess>> workers;
  // These have steps for less than all leases, so the first dies.
  for (int k = 0; k < 3; ++k) workers.push_back(worker(60 + random() % 120));
  // Each is followed by another that dies later or not at all; the server is killed when the first and the third end.
  for (std::size_t k = 0; k < 3; ++k) {
    int const end = workers[k]->wait();
    EXPECT_TRUE(end == 0 || end == -SIGKILL) << end;
    died += end == -SIGKILL ? 1 : 0;
    auto next = worker(k == 2 ? 0 : 400 + random() % 400);
    if (k != 1) kill_and_start();
    workers.push_back(std::move(next));
  }
  for (std::size_t k = 3; k < workers.size(); ++k) await_lock(*workers[k]);
  end_grace();
  for (std::size_t k = 3; k < workers.size(); ++k) {
    int const end = workers[k]->wait();
    EXPECT_TRUE(end == 0 || end == -SIGKILL) << end;
    died += end == -SIGKILL ? 1 : 0;
  }
  EXPECT_EQ(worker()->wait(), 0);
  EXPECT_GE(died, 1);
  EXPECT_THAT(until_there([&] { return ledger->parked(); }), IsEmpty());
}

/// Seen to fail where an exchange that took nothing did not wait for the disk.
TEST_F(AServerThatIsKilled, HasOnItsDiskWhatWasSettledWhateverWasTakenWithIt) {
  ledger->enqueue(support::numbered_work(4), true);
  std::size_t settled = 0;
  for (std::size_t const most : {1U, 0U, 16U}) {
    auto const owner = join();
    // At last all are out, so that nothing is taken.
    auto const taken = exchange(*owner, {}, most == 16 ? 16 : 1).taken;
    EXPECT_THAT(exchange(*owner, settle_all(taken, Kind::acknowledge), most).refused, IsEmpty());
    settled += taken.size();
    kill_and_start();
    EXPECT_EQ(progress().done, settled);
  }
}

/// The owner is stopped, so it cannot come back before others look. Seen to fail where a server that began anew had no
/// grace.
TEST_F(AServerThatIsKilled, LeavesOwnersThatAreAliveWhatTheyHave) {
  ledger->enqueue(support::numbered_work(3), true);
  WorkerProcess const alive({name});
  EXPECT_EQ(alive.ask("take 2"), "taken 1 2");
  alive.stop();
  kill_and_start();
  auto const other = join();
  auto const rest = exchange(*other, {}, 16).taken;
  EXPECT_THAT(numbers_of(rest), ElementsAre(3));
  EXPECT_EQ(progress().lost, 0U);
  alive.send(SIGCONT);
  EXPECT_EQ(alive.ask("acknowledge"), "taken");
  end_grace();
  EXPECT_THAT(exchange(*other, settle_all(rest, Kind::acknowledge), 16).taken, IsEmpty());
  EXPECT_EQ(alive.ask("leave"), "taken");
}

/// One backend that crashes makes the server drop all sessions, though it does not start anew.
TEST_F(AServerThatIsKilled, HasTheSameGraceWhereOnlyItsSessionsWereLost) {
  ledger->enqueue(support::numbered_work(3), true);
  WorkerProcess const alive({name});
  EXPECT_EQ(alive.ask("take 2"), "taken 1 2");
  alive.stop();
  pid_t const backend =
      std::stoi(server.ask("select pid from pg_stat_activity where application_name like 'penstock%'"));
  server.crash(backend);
  auto const other = join();
  auto const rest = exchange(*other, {}, 16).taken;
  EXPECT_THAT(numbers_of(rest), ElementsAre(3));
  alive.send(SIGCONT);
  EXPECT_EQ(alive.ask("acknowledge"), "taken");
  EXPECT_THAT(exchange(*other, settle_all(rest, Kind::acknowledge), 16).refused, IsEmpty());
  EXPECT_EQ(alive.ask("leave"), "taken");
}

TEST_F(AServerThatIsKilled, HandsOutWhatOwnersHadThatEndedMeanwhile) {
  ledger->enqueue(support::numbered_work(2), true);
  WorkerProcess doomed({name});
  EXPECT_EQ(doomed.ask("take 2"), "taken 1 2");
  server.kill();
  doomed.kill(SIGKILL);
  server.start();
  auto const owner = join();
  EXPECT_THAT(exchange(*owner, {}, 16).taken, IsEmpty()) << "it may come back";
  end_grace();
  for (int k = 0; k < 2; ++k) {
    auto const taken = exchange(*owner, {}, 16).taken;
    ASSERT_THAT(taken, SizeIs(1));
    EXPECT_TRUE(taken[0].suspect);
    exchange(*owner, settle_all(taken, Kind::acknowledge), 0);
  }
}

/// An idle owner has its lock again by itself.
TEST_F(AServerThatIsKilled, SeesItsOwnersAgainWithoutAnExchange) {
  ledger->enqueue(support::numbered_work(1), true);
  auto const owner = join();
  auto const taken = exchange(*owner, {}, 1).taken;
  kill_and_start();
  server.await_none("select 1 - count(*) from pg_locks where locktype = 'advisory'");
  end_grace();
  auto const other = join();
  EXPECT_THAT(exchange(*other, {}, 1).taken, IsEmpty());
  EXPECT_THAT(exchange(*owner, settle_all(taken, Kind::acknowledge), 0).refused, IsEmpty());
}

TEST_F(AServerThatIsKilled, IsRefusedAsLongAsItIsAStandby) {
  ledger->enqueue({}, true);
  std::string const standby = server.folder() + "/data/standby.signal";
  server.kill();
  std::ofstream(standby).close();
  server.start();
  std::string said;
  // Of a server that is slow it says that, and it is asked again.
  do {
    try {
      PostgresLedger(name).progress();
      said = "no error";
    } catch (LedgerUnavailable const& error) {
      said = error.what();
    }
  } while (said.find("does not answer") != std::string::npos);
  EXPECT_THAT(said, testing::HasSubstr("standby"));
  std::filesystem::remove(standby);
  kill_and_start();
}

std::atomic<int> messages{0};

struct WaitsAtItsTenth : LeaseSink {
  std::atomic<int> answered{0};
  support::Gate killed;

  void take(Completion&, LeasePart const&) override {}
  std::optional<std::string> answer(Lease const& lease) override {
    if (++answered >= 10) killed.pass();
    return "of " + lease.work.payload;
  }
  void forget(Lease const&) noexcept override {}
};

/// Seen to fail, in one run of three, where an owner gave back what it had settled in a commit that the server lost.
TEST_F(AServerThatIsKilled, IsWaitedForByASourceThatSaysSoOnce) {
  ledger->enqueue(support::numbered_work(100), true);
  cpu::CpuDevice device;
  Pipeline pipeline(device, {.tile = {.input_bytes = 64}, .producers = 2, .tuning = {.tiles = 8}});
  WaitsAtItsTenth sink;
  messages = 0;
  set_message_hook([](std::string_view) noexcept { ++messages; });
  LeaseSource source(*ledger, pipeline.pool(), sink);
  std::jthread runs([&] {
    EXPECT_TRUE(pipeline.run(source, on_device([](DeviceTile const&, StreamRef) {}), source.sink()).ok());
    source.finish();
  });
  sink.killed.await_reached();
  server.kill();
  sink.killed.open();
  while (messages == 0) std::this_thread::yield();
  server.start();
  runs.join();
  set_message_hook(nullptr);
  EXPECT_EQ(messages, 1);
  EXPECT_EQ(source.counts().acknowledged, 100U);
  EXPECT_EQ(source.counts().refused, 0U);
}

TEST_F(AServerThatIsKilled, IsWaitedForAndThenSaidToBeGone) {
  ledger->enqueue(support::numbered_work(1), true);
  auto const owner = join();
  auto const taken = exchange(*owner, {}, 1).taken;
  server.kill();
  auto const answers = settle_all(taken, Kind::acknowledge);
  EXPECT_THROW(owner->exchange(answers, 0), LedgerUnavailable);
  server.start();
  EXPECT_THAT(exchange(*owner, answers, 0).refused, IsEmpty());
}

}  // namespace
}  // namespace penstock
