// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "support/thread_state.hpp"
#include <unistd.h>

#include "ingest/net/a_server.hpp"
#include "penstock/ingest/sockets.hpp"

namespace penstock {
namespace {

using namespace std::string_literals;
using support::Peer;
using testing::ElementsAre;

using support::AServer;

TEST_F(AServer, GivesWholeRecordsOnly) {
  auto const one = peer();
  one.send("one\ntw");
  EXPECT_THAT(tile(), ElementsAre("0:one\n"));
  one.send("o\n");
  EXPECT_THAT(tile(), ElementsAre("0:two\n"));
}

TEST_F(AServer, PutsRecordsOfSeveralConnectionsIntoATile) {
  auto const all = peers(3);
  all[2].send("c\nrest of c");
  all[0].send("a\n");
  auto const got = tile();
  EXPECT_THAT(got, testing::UnorderedElementsAre("0:a\n", "2:c\n"));
  all[1].send("b\n");
  EXPECT_THAT(tile(), ElementsAre("1:b\n"));
}

TEST_F(AServer, GoesOnInTheNextTileWithWhatHasNoRoom) {
  auto const one = peer();
  std::string const forty = std::string(39, 'x') + "\n";
  one.send(forty + forty + forty);
  EXPECT_THAT(tile(), ElementsAre("0:" + forty));
  EXPECT_THAT(tile(), ElementsAre("0:" + forty));
  EXPECT_THAT(tile(), ElementsAre("0:" + forty));
}

TEST_F(AServer, HasATileLeaveOnceItsTableIsFull) {
  auto const all = peers(5);
  for (Peer const& one : all) one.send("x\n");
  std::size_t stretches = 0;
  while (stretches < 5) {
    auto const got = tile();
    EXPECT_LE(got.size(), 4U);
    stretches += got.size();
  }
}

TEST_F(AServer, DoesNotLetAPeerWithHalfARecordHoldUpAnother) {
  auto all = peers(2);
  all[0].send("half");
  for (int k = 0; k < 20; ++k) {
    all[1].send("whole\n");
    EXPECT_THAT(tile(), ElementsAre("1:whole\n"));
  }
  all[0].send(" and half\n");
  EXPECT_THAT(tile(), ElementsAre("0:half and half\n"));
}

TEST_F(AServer, TakesALongRecordBitByBitBesideOthers) {
  auto all = peers(2);
  for (int k = 0; k < 60; ++k) {
    all[0].send("x");
    all[1].send("whole\n");
    EXPECT_THAT(tile(), ElementsAre("1:whole\n"));
  }
  all[0].send("\n");
  EXPECT_THAT(tile(), ElementsAre("0:" + std::string(60, 'x') + "\n"));
}

TEST_F(AServer, CountsAPeerThatBreaksOffInMidRecord) {
  options.connections = 3;
  auto all = peers(3);
  all[0].send("whole\nhal");
  all[0].end();
  all[1].send("hal");
  all[1].reset();
  all[2].send("last\n");
  all[2].end();
  auto const got = rest();
  EXPECT_THAT(got, testing::AnyOf("0:whole\n2:last\n", "2:last\n0:whole\n"));
  auto const counts = source().counts();
  EXPECT_EQ(counts.accepted, 3U);
  EXPECT_EQ(counts.open, 0U);
  EXPECT_EQ(counts.closed, 2U);
  EXPECT_EQ(counts.broken, 1U);
  EXPECT_EQ(counts.loss, RecordLoss{.unfinished = 2});
  EXPECT_EQ(counts.bytes, 3 * 6 + 9 + 3 + 5U);
  EXPECT_THAT(remarks(), testing::HasSubstr("2 records, not finished where the input ends"));
  EXPECT_THAT(remarks(), testing::HasSubstr("1 connection broke off"));
}

TEST_F(AServer, CountsRecordsThatAStopCutsOff) {
  for (bool const fills : {false, true}) {
    made = nullptr;
    stop = {};
    options.stop = stop.get_token();
    Peer const one(source().addresses().front());
    one.send("whole\nhalf");
    Loan const loan = pool.borrow();
    ASSERT_TRUE(source().next(*loan));
    if (!fills) source().fill(*loan);
    stop.request_stop();
    EXPECT_EQ(source().counts().loss.unfinished, 0U);
    // Either call may be the last one.
    EXPECT_FALSE(source().next(*pool.borrow()));
    if (fills) {
      EXPECT_EQ(source().counts().loss.unfinished, 0U) << "the tile may still get the rest";
      source().fill(*loan);
    }
    EXPECT_EQ(source().counts().loss, RecordLoss{.unfinished = 1});
    EXPECT_EQ(source().counts().open, 1U);
    EXPECT_THAT(remarks(), testing::HasSubstr("not finished when the input was stopped"));
  }
}

TEST_F(AServer, TakesALastRecordWithoutItsDelimiterIfAsked) {
  options.connections = 1;
  options.last_may_lack_delimiter = true;
  auto one = peer();
  one.send("one\ntwo");
  one.end();
  EXPECT_EQ(rest(), "0:one\ntwo");
  EXPECT_TRUE(source().counts().loss.none());
}

/// A peer's last record fills a tile, to which others give bytes before the record is known to be the last. Seen to
/// write behind the tile.
void expect_last_record_whole(AServer& server, LongRecords long_records) {
  server.options.connections = 2;
  server.options.last_may_lack_delimiter = true;
  server.options.long_records = long_records;
  auto all = server.peers(2);
  std::string const whole(AServer::tile_bytes, 'x');
  all[0].send(whole);
  all[1].send("other\n");
  EXPECT_THAT(server.tile(), ElementsAre("1:other\n"));
  all[1].send("more\n");
  all[0].end();
  all[1].end();
  EXPECT_THAT(server.rest(), testing::AnyOf("1:more\n0:" + whole, "0:" + whole + "1:more\n"));
  EXPECT_TRUE(server.source().counts().loss.none());
}

TEST_F(AServer, TakesALastRecordThatFillsATileBesideOthers) {
  expect_last_record_whole(*this, LongRecords::refuse);
}

TEST_F(AServer, TakesALastRecordThatFillsATileBesideOthersThoughItCutsLongOnes) {
  expect_last_record_whole(*this, LongRecords::truncate);
}

TEST_F(AServer, EndsOnlyTheConnectionWhoseLengthCannotBe) {
  options.framing = length_prefixed({.bytes = 1, .more = 1, .most = 100});
  auto all = std::vector<Peer>();
  for (int k = 0; k < 2; ++k) all.push_back(peer());
  all[0].send("\1a\xff"s);
  EXPECT_THAT(tile(), ElementsAre("0:\1a"s)) << "what is whole before the damage";
  all[0].send("\1b"s);
  all[1].send("\1c"s);
  EXPECT_THAT(tile(), ElementsAre("1:\1c"s));
  EXPECT_TRUE(all[0].is_turned_away());
  EXPECT_EQ(source().counts().damaged, 1U);
  EXPECT_EQ(source().counts().open, 1U);
  EXPECT_THAT(remarks(), testing::HasSubstr("1 connection, closed from here"));
}

TEST_F(AServer, LeavesOutOrCutsRecordsThatAreTooLong) {
  for (bool const truncates : {false, true}) {
    made = nullptr;
    options.long_records = truncates ? LongRecords::truncate : LongRecords::refuse;
    options.connections = 2;
    auto one = peer(), other = peer();
    other.send("other\n");
    one.send("a\n" + std::string(100, 'x') + "\nb\n");
    one.end();
    other.end();
    std::vector<std::byte> all;
    std::string got;
    for (;;) {
      Loan const loan = pool.borrow();
      if (!source().next(*loan)) break;
      auto const filled = source().fill(*loan);
      got += support::text_of(loan->input().first(filled));
    }
    EXPECT_THAT(got, testing::HasSubstr("other\n"));
    EXPECT_EQ(got.size(), 6 + 4 + (truncates ? tile_bytes : 0)) << got;
    EXPECT_EQ(source().counts().loss, (truncates ? RecordLoss{.truncated = 1} : RecordLoss{.refused = 1}));
  }
}

TEST_F(AServer, CutsBytesAnywhereWithoutAFraming) {
  options.framing = nullptr;
  options.connections = 1;
  auto one = peer();
  one.send(std::string(100, 'x'));
  one.end();
  EXPECT_THAT(tile(), ElementsAre("0:" + std::string(64, 'x')));
  EXPECT_THAT(tile(), ElementsAre("0:" + std::string(36, 'x')));
  EXPECT_THAT(tile(), ElementsAre());
}

TEST_F(AServer, EndsOnceNothingHasComeForAWhile) {
  options.idle = std::chrono::milliseconds(1);
  auto const all = peers(1);
  EXPECT_THAT(tile(), ElementsAre());
}

TEST_F(AServer, StopsAtOnceWhileNothingComes) {
  options.linger = std::chrono::hours(1);
  source();
  std::atomic<pid_t> thread{0};
  std::jthread waits([&] {
    thread = gettid();
    EXPECT_THAT(tile(), ElementsAre());
  });
  while (thread == 0) std::this_thread::yield();
  support::await_asleep(thread);
  stop.request_stop();
  waits.join();
  EXPECT_THAT(tile(), ElementsAre()) << "for good";
}

TEST_F(AServer, HasWhatCameLeaveWhenItStopsThoughItLingers) {
  options.linger = std::chrono::hours(1);
  auto const one = peer();
  one.send("one\n");
  Loan const loan = pool.borrow();
  ASSERT_TRUE(source().next(*loan));
  std::atomic<pid_t> thread{0};
  std::jthread waits([&] {
    thread = gettid();
    EXPECT_EQ(source().fill(*loan), 4U);
  });
  while (thread == 0) std::this_thread::yield();
  support::await_asleep(thread);
  stop.request_stop();
}

/// Calls `body` in a thread, and returns once that sleeps.
std::jthread asleep_in(auto body) {
  std::atomic<pid_t> thread{0};
  std::jthread waits([&thread, body] {
    thread = gettid();
    body();
  });
  while (thread == 0) std::this_thread::yield();
  support::await_asleep(thread);
  return waits;
}

TEST_F(AServer, WaitsForeverIfItsTimesAreTheLongest) {
  options.linger = std::chrono::microseconds::max();
  options.idle = std::chrono::milliseconds::max();
  auto const one = peer();
  auto const waits = asleep_in(
      [this] { EXPECT_THAT(tile(), ElementsAre("0:" + std::string(31, 'x') + "\n" + std::string(31, 'y') + "\n")); });
  one.send(std::string(31, 'x') + "\n");
  one.send(std::string(31, 'y') + "\n");
}

TEST_F(AServer, LingersUntilTheTileIsFull) {
  options.linger = std::chrono::hours(1);
  auto const one = peer();
  one.send(std::string(63, 'x') + "\n");
  EXPECT_THAT(tile(), ElementsAre("0:" + std::string(63, 'x') + "\n"));
}

}  // namespace
}  // namespace penstock
