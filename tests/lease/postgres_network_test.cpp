// SPDX-License-Identifier: Apache-2.0
// A ledger in PostgreSQL, and a network between an owner and the server that is parted or gone.
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "lease/ledger_world.hpp"
#include "lease/network_between.hpp"
#include "lease/postgres_server.hpp"
#include "lease/until_there.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/lease/lease_source.hpp"
#include "penstock/lease/postgres_ledger.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using support::NetworkBetween;
using support::numbers_of;
using support::settle_all;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Kind = Settlement::Kind;
using Way = NetworkBetween::Way;

/// A closed ledger of three leases. One owner reaches it by the network, and another without. At the end each lease is
/// answered once, and right.
struct ANetworkThatIsParted : testing::Test {
  support::PostgresServer& server = support::shared_postgres_server();
  NetworkBetween network{server.folder() + "/.s.PGSQL.5432"};
  std::atomic<std::chrono::nanoseconds> now{std::chrono::hours(1)};
  LedgerOptions const options{.clock = [this] { return now.load(); }};
  PostgresLedger ledger{server.address("parted"), options};
  PostgresLedger far{"postgresql://penstock@127.0.0.1:" + std::to_string(network.port()) + "/postgres?ledger=parted",
                     options};
  std::optional<Exchange> late_result;

  void SetUp() override { ledger.enqueue(support::numbered_work(3), true); }
  void TearDown() override {
    std::set<std::uint64_t> answered;
    for (LeaseAnswer const& one : ledger.answers()) {
      EXPECT_TRUE(answered.insert(one.number).second) << one.number << " twice";
      EXPECT_EQ(one.answer, "of " + std::to_string(one.number));
    }
    LedgerProgress const all = ledger.progress();
    EXPECT_TRUE(all.finished()) << describe(all);
    EXPECT_EQ(all.done, 3U);
    EXPECT_THAT(answered, SizeIs(3));
    server.ask("drop schema parted cascade");
  }
  /// Its acknowledgements are on the way when this returns, and get to the other end or not.
  std::jthread answers_late(LeaseOwner& owner, std::vector<Lease> const& taken, Way way) {
    network.part(way);
    std::jthread late([this, &owner, answers = settle_all(taken, Kind::acknowledge)] {
      late_result = until_there([&] { return owner.exchange(answers, 0); });
    });
    network.await_waiting(way);
    return late;
  }
  /// Another owner answers all that it gets.
  static std::size_t answer_the_rest(LeaseOwner& owner) {
    std::size_t answered = 0;
    for (auto taken = owner.exchange({}, 16).taken; !taken.empty(); taken = owner.exchange({}, 16).taken) {
      EXPECT_THAT(owner.exchange(settle_all(taken, Kind::acknowledge), 0).refused, IsEmpty());
      answered += taken.size();
    }
    return answered;
  }
};

/// Seen to fail where a settlement did not ask for the owner and the try.
TEST_F(ANetworkThatIsParted, HasLateAnswersRefusedOfAnOwnerThatWasSilent) {
  auto const owner = far.join({.silence = std::chrono::seconds(30)}), other = ledger.join();
  auto const taken = owner->exchange({}, 2).taken;
  EXPECT_THAT(numbers_of(taken), ElementsAre(1, 2));
  {
    auto const late = answers_late(*owner, taken, Way::to_server);
    now = now.load() + std::chrono::seconds(31);
    EXPECT_EQ(answer_the_rest(*other), 3U);
    network.join();
  }
  ASSERT_TRUE(late_result);
  EXPECT_THAT(late_result->refused, SizeIs(2));
}

/// Both sides have their connection, so nothing says that the owner is gone.
TEST_F(ANetworkThatIsParted, HasLateAnswersTakenOnceOfAnOwnerThatPromisedNothing) {
  auto const owner = far.join(), other = ledger.join();
  auto const taken = owner->exchange({}, 2).taken;
  {
    auto const late = answers_late(*owner, taken, Way::to_server);
    now = now.load() + std::chrono::hours(1);
    EXPECT_EQ(answer_the_rest(*other), 1U);
    EXPECT_EQ(ledger.progress().out, 2U);
    network.join();
  }
  ASSERT_TRUE(late_result);
  EXPECT_THAT(late_result->refused, IsEmpty());
}

/// The server has done it, its word does not come, and at last the connection is lost. Seen to fail where an owner did
/// not look up what had taken effect.
TEST_F(ANetworkThatIsParted, HasAnswersOnceOfWhichTheReceiptWasLost) {
  auto const owner = far.join(), other = ledger.join();
  auto const taken = owner->exchange({}, 2).taken;
  {
    auto const late = answers_late(*owner, taken, Way::to_client);
    while (ledger.progress().done != 2) std::this_thread::yield();
    EXPECT_EQ(answer_the_rest(*other), 1U);
    network.cut();
  }
  ASSERT_TRUE(late_result);
  EXPECT_THAT(late_result->refused, IsEmpty());
}

/// The answer of an owner that had the number of this one on a server that took over. Seen to fail where owners were
/// told by their numbers.
TEST_F(ANetworkThatIsParted, HasNoAnswerOfAnotherInThePlaceOfOneOfWhichTheReceiptWasLost) {
  auto const owner = far.join(), other = ledger.join();
  auto const taken = owner->exchange({}, 2).taken;
  {
    auto const late = answers_late(*owner, taken, Way::to_client);
    while (ledger.progress().done != 2) std::this_thread::yield();
    server.ask("update parted.lease set settled_by = owner where number = 2");
    EXPECT_EQ(answer_the_rest(*other), 1U);
    network.cut();
  }
  ASSERT_TRUE(late_result);
  EXPECT_THAT(late_result->refused, SizeIs(1));
}

/// What is said while it lives.
struct Heard {
  Heard() {
    set_message_hook([](std::string_view sentence) noexcept {
      std::lock_guard const lock(mutex);
      sentences.emplace_back(sentence);
    });
  }
  Heard(Heard const&) = delete;
  Heard& operator=(Heard const&) = delete;
  ~Heard() {
    set_message_hook(nullptr);
    sentences.clear();
  }
  std::vector<std::string> all() const {
    std::lock_guard const lock(mutex);
    return sentences;
  }
  static inline std::mutex mutex;
  static inline std::vector<std::string> sentences;
};

struct SaysItsPayload : LeaseSink {
  void take(Completion&, LeasePart const&) override {}
  std::optional<std::string> answer(Lease const& lease) override { return "of " + lease.work.payload; }
  void forget(Lease const&) noexcept override {}
};

/// The server is gone for as long as it takes to ask for it forty times, which is some ten seconds; nothing depends on
/// the time. Seen to fail where a source gave up.
TEST_F(ANetworkThatIsParted, AndAServerThatIsGoneForLongLetASourceWaitAndSayForWhat) {
  support::PostgresServer own;
  NetworkBetween to_own(own.folder() + "/.s.PGSQL.5432");
  PostgresLedger there("postgresql://penstock@127.0.0.1:" + std::to_string(to_own.port()) + "/postgres?ledger=long");
  there.enqueue(support::numbered_work(100));
  cpu::CpuDevice device;
  Pipeline pipeline(device, {.tile = {.input_bytes = 64}, .producers = 2, .tuning = {.tiles = 8}});
  SaysItsPayload sink;
  Heard const heard;
  {
    LeaseSource source(there, pipeline.pool(), sink);
    std::jthread const runs([&] {
      EXPECT_TRUE(pipeline.run(source, on_device([](DeviceTile const&, StreamRef) {}), source.sink()).ok());
      source.finish();
    });
    while (source.counts().acknowledged != 100) std::this_thread::yield();
    own.kill();
    to_own.await_connections(40);
    while (heard.all().empty()) std::this_thread::yield();
    own.start();
    until_there([&] { return there.enqueue(support::numbered_work(100), true); });
  }
  EXPECT_THAT(heard.all(), ElementsAre(AllOf(HasSubstr("ledger 'long' in PostgreSQL"), HasSubstr("Start "),
                                             HasSubstr("It is tried again until it works."))));
  LedgerProgress const all = until_there([&] { return there.progress(); });
  EXPECT_TRUE(all.finished()) << describe(all);
  EXPECT_EQ(all.done, 200U);
  EXPECT_EQ(all.retries, 0U);
  answer_the_rest(*ledger.join());
}

}  // namespace
}  // namespace penstock
