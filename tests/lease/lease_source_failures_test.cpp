// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "lease/a_pipeline_on_leases.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock {
namespace {

using support::APipelineOnLeases;
using support::LedgerWorld;
using testing::HasSubstr;
using testing::SizeIs;

TEST_F(APipelineOnLeases, ParksWhatCannotBeReadAndAnswersTheRest) {
  std::ofstream(path("short")) << "short";
  ledger.enqueue({{{.path = path("none")}, {.payload = "good"}, {.path = path("short"), .length = 6}}}, true);
  open();
  Report const report = run();
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(report.tiles_failed, 2 * LedgerWorld::most_tries);
  report.unread.mark_read();
  source->finish();
  EXPECT_EQ(ledger.progress().done, 1U);
  auto const parked = ledger.parked();
  ASSERT_THAT(parked, SizeIs(2));
  EXPECT_THAT(parked[0].reason, testing::StartsWith("at source: " + path("none") + ": No such file or directory"));
  EXPECT_THAT(parked[1].reason, HasSubstr("has 5 bytes, and the lease is of 6 from byte 0 on"));
  EXPECT_EQ(source->counts().failed, 2 * LedgerWorld::most_tries);
}

TEST_F(APipelineOnLeases, ChargesALeaseThatTheSinkCannotUse) {
  enqueue(5);
  std::atomic<int> refusals = 0;
  collector.on_take = [&](LeasePart const& part) {
    if (part.lease.number == 3 && part.offset == tile_bytes && part.lease.tries == 1)
      throw std::runtime_error("no room");
  };
  collector.on_answer = [&](Lease const& lease) {
    if (lease.number == 2 && refusals++ == 0) throw std::runtime_error("no disk");
  };
  open();
  run().unread.mark_read();
  source->finish();
  expect_all_answered(5);
  EXPECT_EQ(source->counts().failed, 2U);
  std::ranges::sort(collector.forgotten);
  EXPECT_THAT(collector.forgotten, testing::ElementsAre(2, 3));
}

/// Seen to fail where such texts went to the ledger as they were.
TEST_F(APipelineOnLeases, HoldsUpNoOtherLeaseByATextThatIsTooLong) {
  enqueue(5);
  collector.on_answer = [&](Lease const& lease) {
    std::lock_guard const lock(collector.mutex);
    if (lease.number == 2) collector.bytes[2].assign(Settlement::most_bytes + 1, 'x');
    if (lease.number == 4) throw std::runtime_error(std::string(Settlement::most_bytes, 'x'));
  };
  open();
  run().unread.mark_read();
  source->finish();
  EXPECT_EQ(ledger.progress().done, 3U);
  auto const parked = ledger.parked();
  ASSERT_THAT(parked, SizeIs(2));
  EXPECT_EQ(parked[0].tries, 1U);
  EXPECT_EQ(parked[0].reason,
            "Its answer has 67108865 bytes, and a ledger takes 64 MiB. Put it into a file, and answer by its name.");
  EXPECT_TRUE(parked[1].reason.ends_with("xxx ..."));
  EXPECT_LT(parked[1].reason.size(), 5000U);
}

TEST_F(APipelineOnLeases, SaysThatSettlementsCameTooLate) {
  enqueue(1);
  std::vector<Lease> others;
  auto const other = ledger.join();
  collector.on_answer = [&](Lease const& lease) {
    if (lease.tries != 1) return;
    // It may be heard from between the two.
    do {
      world->let_pass(std::chrono::seconds(3601));
      others = other->exchange({}, 16).taken;
    } while (others.empty());
    other->exchange(support::settle_all(others, Settlement::Kind::acknowledge), 0);
  };
  open({.owner = {.silence = std::chrono::hours(1)}});
  EXPECT_TRUE(run().ok());
  source->finish();
  EXPECT_EQ(source->counts().refused, 1U);
  ASSERT_THAT(source->remarks(), SizeIs(1));
  EXPECT_THAT(source->remarks()[0], HasSubstr("1 settlement came too late"));
  EXPECT_THAT(ledger.answers()[0].answer, testing::StartsWith("of "));
}

/// A ledger whose owners can be refused the next exchanges.
struct FailingLedger : Ledger {
  Ledger& below;
  std::atomic<bool> fails = false;
  std::atomic<int> exchanges = 0;
  std::atomic<int> unavailable = 0;  ///< Number of exchanges for which it cannot be written.
  std::atomic<int> refusals = 0;     ///< Number of those that were.
  explicit FailingLedger(Ledger& ledger) : below(ledger) {}

  struct Owner : LeaseOwner {
    FailingLedger& of;
    std::unique_ptr<LeaseOwner> below;
    Owner(FailingLedger& ledger, OwnerOptions options) : of(ledger), below(ledger.below.join(options)) {}
    Exchange exchange(std::span<Settlement const> settlements, std::size_t most) override {
      if (of.fails) throw Error(ErrorKind::system, "The disk is full.");
      if (of.unavailable > 0) {
        --of.unavailable;
        ++of.refusals;
        throw LedgerUnavailable("The disk is full.");
      }
      Exchange result = below->exchange(settlements, most);
      ++of.exchanges;
      return result;
    }
    void keep_alive() override { below->keep_alive(); }
  };
  bool enqueue(std::span<LeaseWork const> work, bool last) override { return below.enqueue(work, last); }
  std::unique_ptr<LeaseOwner> join(OwnerOptions options) override { return std::make_unique<Owner>(*this, options); }
  LedgerProgress progress() override { return below.progress(); }
  std::vector<ParkedLease> parked(std::uint64_t after, std::size_t most) override { return below.parked(after, most); }
  bool unpark(std::uint64_t number) override { return below.unpark(number); }
  std::vector<LeaseAnswer> answers(std::uint64_t after, std::size_t most) override {
    return below.answers(after, most);
  }
};

TEST_F(APipelineOnLeases, EndsItsInputWhenTheLedgerFailsAndSettlesOnceItWorks) {
  enqueue(60);
  FailingLedger failing(ledger);
  collector.on_answer = [&](Lease const& lease) {
    if (lease.number == 20) failing.fails = true;
  };
  source.emplace(failing, pipeline.pool(), collector);
  Report const report = run();
  EXPECT_FALSE(report.ok());
  EXPECT_THAT(describe(report), HasSubstr("The disk is full."));
  report.unread.mark_read();
  failing.fails = false;
  source->finish();
  EXPECT_GE(source->counts().acknowledged, 20U);
  EXPECT_EQ(source->counts().acknowledged + source->counts().given_back, source->counts().taken);
}

/// Seen to fail (it did not end) where only exceptions of the standard library failed a try.
TEST_F(APipelineOnLeases, ChargesALeaseForWhateverTheSinkThrows) {
  enqueue(3);
  std::atomic<int> thrown = 0;
  collector.on_answer = [&](Lease const& lease) {
    if (lease.number == 2 && thrown++ == 0) throw 7;
  };
  open();
  run().unread.mark_read();
  source->finish();
  expect_all_answered(3);
  EXPECT_EQ(source->counts().failed, 1U);
}

/// Seen to fail where the end forgot nothing.
TEST_F(APipelineOnLeases, ForgetsWhatHasNoAnswerAtTheEnd) {
  enqueue(1);
  collector.first_tries_later = true;
  collector.on_answer = [&](Lease const&) { stop.request_stop(); };
  open();
  EXPECT_TRUE(run().ok());
  source->finish();
  EXPECT_THAT(collector.forgotten, testing::ElementsAre(1));
  EXPECT_EQ(ledger.progress().ready, 1U);
}

std::atomic<int> messages = 0;

/// Seen to fail where such a failure ended the input.
TEST_F(APipelineOnLeases, WaitsForALedgerThatCannotBeWrittenAndSaysSoOnce) {
  enqueue(60);
  FailingLedger failing(ledger);
  collector.on_answer = [&](Lease const& lease) {
    if (lease.number == 20) failing.unavailable = 3;
  };
  messages = 0;
  set_message_hook([](std::string_view) noexcept { ++messages; });
  source.emplace(failing, pipeline.pool(), collector, LeaseSourceOptions{.leases = 4});
  EXPECT_TRUE(run().ok());
  failing.unavailable = 0;
  source->finish();
  set_message_hook(nullptr);
  expect_all_answered(60);
  EXPECT_EQ(source->counts().failed, 0U);
  EXPECT_EQ(failing.refusals, 3);
  EXPECT_EQ(messages, 1);
}

/// Seen to fail (it did not end) where only the ledger ended the wait at the end.
TEST_F(APipelineOnLeases, LeavesALedgerThatCannotBeWrittenOnceItIsStopped) {
  enqueue(60);
  FailingLedger failing(ledger);
  collector.on_answer = [&](Lease const& lease) {
    if (lease.number == 20) failing.unavailable = 1'000'000;
  };
  set_message_hook(nullptr);
  source.emplace(failing, pipeline.pool(), collector, LeaseSourceOptions{.leases = 4, .stop = stop.get_token()});
  std::jthread const stops([&] {
    while (failing.refusals == 0) std::this_thread::yield();
    stop.request_stop();
  });
  EXPECT_TRUE(run().ok());
  EXPECT_THROW(source->finish(), LedgerUnavailable);
  EXPECT_EQ(source->counts().failed, 0U);
  EXPECT_EQ(ledger.progress().suspects, 0U);
}

/// Seen to fail where the later try was passed on at once, and where the earlier one was answered.
TEST_F(APipelineOnLeases, BeginsALaterTryOnceAllOfTheEarlierOneIsHome) {
  enqueue(1);
  FailingLedger counting(ledger);
  constexpr int tiles = 3;
  std::atomic<int> taken_of_first = 0;
  std::vector<std::uint32_t> answered;
  collector.on_take = [&](LeasePart const& part) {
    if (part.lease.tries != 1 || ++taken_of_first != 1) return;
    // It cannot be heard from while it is lost.
    counting.unavailable = 1'000'000;
    do {
      world->let_pass(std::chrono::seconds(3601));
      ledger.join()->exchange({}, 0);
    } while (ledger.progress().suspects == 0);
    counting.unavailable = 0;
    // The source has the later try before these end, and time to pass it on.
    for (int const seen = counting.exchanges; counting.exchanges < seen + 20;) std::this_thread::yield();
  };
  collector.on_answer = [&](Lease const& lease) { answered.push_back(lease.tries); };
  LeaseSourceOptions options{.owner = {.silence = std::chrono::hours(1)}, .poll = std::chrono::milliseconds(1)};
  options.open = [&](Lease const& lease) {
    if (lease.tries == 2) {
      EXPECT_EQ(taken_of_first, tiles);
      std::lock_guard const lock(collector.mutex);
      EXPECT_THAT(collector.forgotten, testing::ElementsAre(1));
    }
    return open_lease(lease);
  };
  set_message_hook(nullptr);
  source.emplace(counting, pipeline.pool(), collector, options);
  EXPECT_TRUE(run().ok());
  source->finish();
  expect_all_answered(1);
  EXPECT_THAT(answered, testing::ElementsAre(2));
}

TEST_F(APipelineOnLeases, SaysThatItCouldNotSettle) {
  enqueue(3);
  FailingLedger failing(ledger);
  collector.on_answer = [&](Lease const&) { failing.fails = true; };
  source.emplace(failing, pipeline.pool(), collector, LeaseSourceOptions{.leases = 3});
  run().unread.mark_read();
  EXPECT_THROW(source->finish(), Error);
  failing.fails = false;
}

}  // namespace
}  // namespace penstock
