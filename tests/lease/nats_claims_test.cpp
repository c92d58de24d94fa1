// SPDX-License-Identifier: Apache-2.0
#include "penstock/lease/nats_claims.hpp"

#include <atomic>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lease/a_pipeline_on_leases.hpp"
#include "lease/nats/claim_check.hpp"
#include "lease/nats_server.hpp"
#include "lease/until_there.hpp"
#include "support/folder_of_files.hpp"
#include "support/gate.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/error.hpp"
#include "penstock/lease/lease_source.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using support::Collector;
using support::Gate;
using support::NatsClient;
using support::NatsServer;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

/// A pipeline of small tiles on the messages of a server of its own. Every test must leave with all tiles at home.
struct AConsumerOfNats : support::FolderOfFiles {
  static constexpr std::chrono::hours never{1};  ///< Longer than any test.
  cpu::CpuDevice device;
  Pipeline pipeline{device, {.tile = {.input_bytes = 64}, .tuning = {.tiles = 8}}};
  Collector collector;
  std::optional<NatsServer> server;
  std::optional<NatsClient> client;
  std::optional<LeaseSource> source;

  void SetUp() override {
    FolderOfFiles::SetUp();
    server.emplace(folder);
    client.emplace(server->address());
  }
  void TearDown() override {
    source.reset();
    EXPECT_EQ(pipeline.snapshot().pool.lent, 0U);
    client.reset();
    server.reset();
    FolderOfFiles::TearDown();
  }

  /// Messages that name files of 100, 101 ... bytes.
  void publish(std::size_t count) {
    for (std::size_t k = 0; k < count; ++k)
      client->publish(R"({"path": ")" + file("file" + std::to_string(k), 100 + k) + R"("})");
  }
  std::unique_ptr<NatsClaims> claims(std::chrono::milliseconds ack_wait = never, std::int64_t most_tries = 5) {
    return std::make_unique<NatsClaims>(
        server->address(),
        NatsOptions{
            .stream = "CLAIMS", .consumer = "c", .until_empty = true, .ack_wait = ack_wait, .most_tries = most_tries});
  }
  LeaseSource& open(std::unique_ptr<NatsClaims> from) {
    return source.emplace(std::move(from), pipeline.pool(), collector,
                          LeaseSourceOptions{.poll = std::chrono::milliseconds(1)});
  }
  void run() {
    pipeline.run(*source, on_device([](DeviceTile const&, StreamRef) {}), source->sink()).unread.mark_read();
    source->finish();
  }
  /// Asks until there is a lease.
  static Lease take(NatsClaims& from) {
    for (;;) {
      if (auto taken = from.exchange({}, 1).taken; !taken.empty()) return taken.front();
    }
  }
  static Settlement acknowledge(Lease const& lease) { return {.number = lease.number, .tries = lease.tries}; }
};

TEST_F(AConsumerOfNats, AnswersWhatEachMessageNames) {
  publish(20);
  open(claims());
  run();
  EXPECT_EQ(source->counts().acknowledged, 20U);
  EXPECT_EQ(client->unacknowledged("c"), 0);
  ASSERT_THAT(collector.bytes, SizeIs(20));
  for (auto const& [number, bytes] : collector.bytes) EXPECT_EQ(bytes.size(), 99 + number);
}

/// Seen to fail where a message was acknowledged when it was taken.
TEST_F(AConsumerOfNats, AcknowledgesOnlyWhatTheSinkCallsDurable) {
  publish(1);
  collector.first_tries_later = true;
  std::promise<Lease> asked;
  collector.on_answer = [&](Lease const& lease) { asked.set_value(lease); };
  open(claims());
  std::jthread const running([&] {
    pipeline.run(*source, on_device([](DeviceTile const&, StreamRef) {}), source->sink()).unread.mark_read();
  });
  Lease const lease = asked.get_future().get();
  EXPECT_EQ(client->unacknowledged("c"), 1);
  source->acknowledge(lease, "");
  while (client->unacknowledged("c") != 0) std::this_thread::yield();
}

TEST_F(AConsumerOfNats, SaysThatItIsAtItWhileTilesAreOnTheWay) {
  publish(1);
  Gate gate;
  collector.on_take = [&](LeasePart const&) { gate.pass(); };
  client->listen();
  open(claims(std::chrono::seconds(2)));
  std::jthread const running([&] {
    pipeline.run(*source, on_device([](DeviceTile const&, StreamRef) {}), source->sink()).unread.mark_read();
  });
  for (int times = 0; times < 6; ++times) client->await_said("+WPI");
  gate.open();
  client->await_said("+ACK");
}

/// Without a word of it the server would wait for an hour.
TEST_F(AConsumerOfNats, SaysAtOnceThatATryFailed) {
  publish(3);
  collector.on_take = [](LeasePart const& part) {
    if (part.lease.number == 2 && part.lease.tries == 1) throw std::runtime_error("no room");
  };
  open(claims());
  run();
  EXPECT_EQ(source->counts().failed, 1U);
  EXPECT_EQ(source->counts().acknowledged, 3U);
}

TEST_F(AConsumerOfNats, EndsWithWhatFailsAsOftenAsItMay) {
  publish(2);
  collector.on_take = [](LeasePart const& part) {
    if (part.lease.number == 1) throw std::runtime_error("no room");
  };
  open(claims(never, 2));
  run();
  EXPECT_EQ(source->counts().failed, 2U);
  EXPECT_EQ(source->counts().acknowledged, 1U);
}

TEST_F(AConsumerOfNats, GivesBackWhatItHasWhenItEnds) {
  publish(1);
  auto first = claims();
  EXPECT_EQ(take(*first).tries, 1U);
  first.reset();
  EXPECT_EQ(take(*claims()).tries, 2U);
}

TEST_F(AConsumerOfNats, GetsWhatAProcessHadThatIsGone) {
  publish(1);
  auto const rest = claims(std::chrono::milliseconds(200));
  client->take_and_forget("c");
  EXPECT_EQ(take(*rest).tries, 2U);
}

/// As after a process that was stopped for longer than the server waits.
TEST_F(AConsumerOfNats, RefusesTheSettlementOfAnEarlierTry) {
  publish(1);
  auto const only = claims();
  Lease const first = take(*only);
  client->listen();
  only->keep_alive();
  client->have_it_delivered_again();
  Lease const second = take(*only);
  EXPECT_EQ(second.number, first.number);
  EXPECT_EQ(second.tries, 2U);
  auto const refused = only->exchange({{acknowledge(first)}}, 0).refused;
  ASSERT_THAT(refused, SizeIs(1));
  EXPECT_THAT(refused.front().reason, HasSubstr("delivered again"));
  EXPECT_THAT(only->exchange({{acknowledge(second)}}, 0).refused, SizeIs(0));
  EXPECT_EQ(client->unacknowledged("c"), 0);
}

TEST_F(AConsumerOfNats, GoesOnOnceTheServerIsThereAgain) {
  publish(2);
  auto const only = claims();
  Lease const first = take(*only), second = take(*only);
  EXPECT_THAT(only->exchange({{acknowledge(first)}}, 0).refused, SizeIs(0));
  server->stop();
  EXPECT_THROW(only->exchange({{acknowledge(second)}}, 1), LedgerUnavailable);
  server->start();
  auto const settled = until_there([&] { return only->exchange({{acknowledge(second)}}, 0); });
  EXPECT_THAT(settled.refused, SizeIs(0));
  EXPECT_EQ(client->unacknowledged("c"), 0);
}

/// Seen to fail, by waiting for ever, where a connection that is closed counted as one that is down, here or only while
/// it settles.
TEST_F(AConsumerOfNats, EndsIfTheServerRefusesItsUserByNow) {
  publish(2);
  auto const only = claims();
  Lease const lease = take(*only);
  server->stop();
  server->start({"--user", "penstock", "--pass", "secret"});
  auto const settle = [&] { only->exchange({{acknowledge(lease)}}, 1); };
  auto const said = [](auto const& call) {
    try {
      until_there(call);
    } catch (Error const& refused) {
      EXPECT_EQ(refused.kind(), ErrorKind::bad_argument);
      return std::string(refused.what());
    }
    return std::string();
  };
  EXPECT_THAT(said(settle), AllOf(HasSubstr("refuses this user"), HasSubstr("password_file")));
  EXPECT_THAT(said([&] { only->keep_alive(); }), HasSubstr("refuses this user"));
  EXPECT_THAT(said([&] { only->exchange({}, 1); }), HasSubstr("refuses this user"));
}

/// Seen to fail where such a message was dropped: a server hands out what was dropped after `ack_wait`, here an hour.
TEST_F(AConsumerOfNats, HandsBackAtOnceWhatItCannotRead) {
  auto const only = claims();
  client->listen_to_requests("c");
  EXPECT_THAT(only->exchange({}, 1).taken, SizeIs(0));
  client->answer_without_origin();
  // This message comes behind that one.
  publish(1);
  take(*only);
  client->await_said("-NAK");
}

std::atomic<int> messages{0};

TEST_F(AConsumerOfNats, LeavesOutWhatIsNoClaimCheckAndSaysSo) {
  client->publish("/data/1.bin");
  client->publish(R"({"path": "/data/1.bin", "bytes": 3})");
  publish(1);
  MessageHook const before = set_message_hook([](std::string_view text) noexcept {
    if (text.find("is not handed out again: it is no claim check") != std::string_view::npos) ++messages;
  });
  open(claims());
  run();
  set_message_hook(before);
  EXPECT_EQ(messages, 2);
  EXPECT_EQ(source->counts().acknowledged, 1U);
  EXPECT_EQ(client->unacknowledged("c"), 0);
}

/// What the constructor says.
std::string refusal(std::string const& address, NatsOptions options) {
  try {
    NatsClaims const claims(address, std::move(options));
  } catch (Error const& refused) {
    return refused.what();
  }
  return {};
}

TEST_F(AConsumerOfNats, IsRefusedInASentence) {
  std::string const address = server->address();
  EXPECT_THAT(refusal("host:4222", {}), HasSubstr("nats://HOST:PORT"));
  EXPECT_THAT(refusal("nats://penstock:secret@host", {}), AllOf(HasSubstr("password_file"), Not(HasSubstr("secret"))));
  EXPECT_THAT(refusal(address, {.stream = "NONE", .consumer = "c"}), HasSubstr("There is no stream NONE"));
  client->make_consumer_without_acknowledgement("loose");
  EXPECT_THAT(refusal(address, {.stream = "CLAIMS", .consumer = "loose"}), HasSubstr("not acknowledged one by one"));
  EXPECT_THAT(refusal(address, {.stream = "CLAIMS", .consumer = "c", .password_file = path("none")}),
              HasSubstr("has no line USER:PASSWORD"));
  server->stop();
  EXPECT_THAT(refusal(address, {.stream = "CLAIMS", .consumer = "c"}), HasSubstr("See that it runs"));
}

TEST_F(AConsumerOfNats, ReadsThePasswordFromAFile) {
  server->stop();
  server->start({"--user", "penstock", "--pass", "a:secret"});
  EXPECT_THAT(refusal(server->address(), {.stream = "CLAIMS", .consumer = "c"}), HasSubstr("refuses this user"));
  std::ofstream(path("password")) << "penstock:a:secret\n";
  EXPECT_THAT(refusal(server->address(), {.stream = "NONE", .consumer = "c", .password_file = path("password")}),
              HasSubstr("There is no stream NONE"));
}

TEST_F(AConsumerOfNats, SaysThatItPromisesAtLeastOnce) {
  EXPECT_EQ(claims()->describe(),
            "claim checks of the consumer c of the stream CLAIMS at " + server->address() + ", at least once");
}

TEST(ClaimCheck, SaysWhatToRead) {
  EXPECT_EQ(claim_check(R"({"path": "a"})"), (LeaseWork{.path = "a"}));
  EXPECT_EQ(claim_check(R"({"path": "a", "offset": 3, "length": 18446744073709551615, "checksum": "crc"})"),
            (LeaseWork{.path = "a", .offset = 3, .checksum = "crc"}));
  for (char const* none : {"", "a", "[]", "{}", R"({"path": ""})", R"({"path": 1})", R"({"path": "a", "offset": -1})",
                           R"({"path": "a", "payload": "b"})"})
    EXPECT_EQ(claim_check(none), std::nullopt) << none;
}

}  // namespace
}  // namespace penstock
