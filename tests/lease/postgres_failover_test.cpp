// SPDX-License-Identifier: Apache-2.0
// A ledger in PostgreSQL, whose primary server is killed, and whose standby takes over.
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lease/ledger_world.hpp"
#include "lease/postgres_server.hpp"
#include "lease/until_there.hpp"
#include "lease/worker_process.hpp"
#include "support/gate.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

/// Two servers, both of which the ledger's address names. At the end each lease is answered once, and right, on the
/// standby, which took over.
struct TwoServers : testing::Test {
  support::PostgresServer primary, standby{support::StandbyOf{primary}};
  std::string const name = "postgresql:///postgres?host=" + primary.folder() + "," + standby.folder() +
                           "&user=penstock&target_session_attrs=read-write&ledger=pair";
  PostgresLedger ledger{name};

  explicit TwoServers(std::vector<std::string> settings) : primary(std::move(settings)) {}
  void TearDown() override {
    LedgerProgress const all = until_there([&] { return ledger.progress(); });
    EXPECT_TRUE(all.finished()) << describe(all);
    EXPECT_EQ(all.done, all.leases) << describe(all);
    std::set<std::uint64_t> answered;
    for (LeaseAnswer const& one : until_there([&] { return ledger.answers(0, all.leases); })) {
      EXPECT_TRUE(answered.insert(one.number).second) << one.number << " twice";
      EXPECT_EQ(one.answer, "of " + std::to_string(one.number));
    }
    EXPECT_THAT(answered, SizeIs(all.leases));
    EXPECT_EQ(standby.ask("select count(*) from pair.lease where state = 2"), std::to_string(all.leases));
  }
  std::unique_ptr<LeaseOwner> join() {
    return until_there([&] { return ledger.join(); });
  }
  static Exchange exchange(LeaseOwner& owner, std::span<Settlement const> settlements, std::size_t most) {
    return until_there([&] { return owner.exchange(settlements, most); });
  }
};

/// Each commit is on both when its end is seen.
struct AFailover : TwoServers {
  AFailover() : TwoServers({"synchronous_standby_names=*"}) {}
};

/// Seen not to end where an address could name one server only.
TEST_F(AFailover, LeavesAllThatWasAcknowledgedAndOwnersGoOnWithWhatTheyHave) {
  ledger.enqueue(support::numbered_work(4), true);
  auto const owner = join();
  auto taken = exchange(*owner, {}, 3).taken;
  ASSERT_THAT(numbers_of(taken), ElementsAre(1, 2, 3));
  auto const answers = settle_all(taken, Kind::acknowledge);
  EXPECT_THAT(exchange(*owner, std::span(answers).first(1), 0).refused, IsEmpty());
  primary.kill();
  standby.promote();
  Exchange const rest = exchange(*owner, std::span(answers).subspan(1), 16);
  EXPECT_THAT(rest.refused, IsEmpty());
  EXPECT_THAT(numbers_of(rest.taken), ElementsAre(4));
  EXPECT_TRUE(exchange(*owner, settle_all(rest.taken, Kind::acknowledge), 1).finished);
}

/// Answers a lease with its payload; from the tenth on, only once the gate is open.
struct StopsAtItsTenth : LeaseSink {
  int answered = 0;
  support::Gate gate;

  void take(Completion&, LeasePart const&) override {}
  std::optional<std::string> answer(Lease const& lease) override {
    if (++answered >= 10) gate.pass();
    return "of " + lease.work.payload;
  }
  void forget(Lease const&) noexcept override {}
};

TEST_F(AFailover, IsWaitedForByASourceThatLosesNoLease) {
  ledger.enqueue(support::numbered_work(100), true);
  cpu::CpuDevice device;
  Pipeline pipeline(device, {.tile = {.input_bytes = 64}, .producers = 2, .consumers = 1, .tuning = {.tiles = 8}});
  StopsAtItsTenth sink;
  std::stop_source stop;  // Its source waits as long as none is requested.
  LeaseSource source(ledger, pipeline.pool(), sink, {.stop = stop.get_token()});
  std::jthread runs([&] {
    EXPECT_TRUE(pipeline.run(source, on_device([](DeviceTile const&, StreamRef) {}), source.sink()).ok());
    source.finish();
  });
  sink.gate.await_reached();
  primary.kill();
  sink.gate.open();
  standby.promote();
  runs.join();
  EXPECT_EQ(source.counts().acknowledged, 100U);
  EXPECT_EQ(source.counts().refused, 0U);
}

/// The standby was away for a while before.
struct AFailoverToAStandbyThatIsBehind : TwoServers {
  AFailoverToAStandbyThatIsBehind() : TwoServers({}) {}
};

/// An owner of which the standby knows nothing goes on with no lease, and its number may be another's by then. Seen to
/// fail where such an owner had no row for its counts, where a number that was taken was a failure, and where an owner
/// of the same process counted as the same owner.
TEST_F(AFailoverToAStandbyThatIsBehind, HasLeasesAgainOfWhichItDoesNotHaveTheAnswers) {
  ledger.enqueue(support::numbered_work(4), true);
  auto const owner = join();
  auto const taken = exchange(*owner, {}, 2).taken;
  ASSERT_THAT(numbers_of(taken), ElementsAre(1, 2));
  primary.await_none("select 1 - count(*) from pg_stat_replication where replay_lsn >= pg_current_wal_flush_lsn()");
  standby.kill();
  EXPECT_THAT(exchange(*owner, settle_all(taken, Kind::acknowledge), 0).refused, IsEmpty());
  // A server takes some numbers from a sequence at once, and the standby has these.
  for (int k = 0; k < 40; ++k) join();
  auto const unknown = join();
  auto const lost = exchange(*unknown, {}, 1).taken;
  ASSERT_THAT(numbers_of(lost), ElementsAre(3));
  WorkerProcess const stopped({name});
  EXPECT_EQ(stopped.ask("take 1"), "taken 4");
  stopped.stop();
  std::string const its_number = primary.ask("select max(id) from pair.owner");
  std::string const its_process = primary.ask("select process from pair.owner where id = " + its_number);
  primary.kill();
  standby.start();
  standby.promote();
  // As if another owner of that process had the number by now.
  standby.ask("insert into pair.owner(id, process, heard, silence, token) values(" + its_number + ", '" + its_process +
              "', 0, 0, 1) returning id");
  EXPECT_THAT(exchange(*unknown, settle_all(lost, Kind::acknowledge), 0).refused, SizeIs(1));
  std::vector<std::unique_ptr<LeaseOwner>> others;
  for (int k = 0; k < 40; ++k) others.push_back(join());
  stopped.send(SIGCONT);
  EXPECT_EQ(stopped.ask("acknowledge"), "refused 0");
  EXPECT_EQ(standby.ask("select count(*) from pair.owner where token <> 1 and process = '" + its_process + "'"), "1");
  // The first owner has neither of its two, so it gives them back.
  auto const again = exchange(*owner, {}, 1).taken;
  EXPECT_THAT(numbers_of(again), ElementsAre(1));
  EXPECT_EQ(stopped.ask("take 1"), "taken 2");
  auto const rest = exchange(*unknown, {}, 16).taken;
  EXPECT_THAT(numbers_of(rest), ElementsAre(3, 4));
  EXPECT_THAT(exchange(*owner, settle_all(again, Kind::acknowledge), 0).refused, IsEmpty());
  EXPECT_EQ(stopped.ask("acknowledge"), "taken");
  EXPECT_EQ(stopped.ask("leave"), "taken");
  EXPECT_THAT(exchange(*unknown, settle_all(rest, Kind::acknowledge), 0).refused, IsEmpty());
}

}  // namespace
}  // namespace penstock
