// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/folder_of_files.hpp"
#include "support/records_of_text.hpp"
#include "support/thread_state.hpp"
#include <gmock/gmock.h>

#include "engine/core/pool.hpp"
#include "ingest/net/datagram_socket.hpp"
#include "ingest/net/naps.hpp"
#include "ingest/net/peer.hpp"
#include "penstock/ingest/sockets.hpp"

namespace penstock {
namespace {

using support::Peer;
using testing::ElementsAre;

/// Four tiles of a page with room for eight stretches, and a socket; the test is producer and sink in one. It must
/// leave with all tiles home and no descriptor more than there were.
struct ASocketForDatagrams : testing::Test {
  static constexpr TileShape shape{.input_bytes = 4096, .more_input_bytes = {8 * sizeof(Stretch)}};
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 4));
  Pool pool{slab, shape, 4};
  std::stop_source stop;
  DatagramSourceOptions options{.stop = stop.get_token(), .linger = {}};
  std::string address = "udp:127.0.0.1:0";
  std::unique_ptr<DatagramSource> made;
  std::size_t const descriptors = support::open_descriptors();

  void TearDown() override {
    made = nullptr;
    EXPECT_EQ(support::open_descriptors(), descriptors) << "a socket stayed open";
    EXPECT_EQ(pool.on_loan(), 0U) << "a tile never came home";
  }
  DatagramSource& source() {
    if (made == nullptr) made = std::make_unique<DatagramSource>(std::vector{address}, pool, options);
    return *made;
  }
  Peer peer() { return Peer(source().addresses().front()); }
  /// The datagrams of the next tile.
  std::vector<std::string> tile() {
    Loan const loan = pool.borrow();
    if (!source().next(*loan)) return {};
    loan->filled = source().fill(*loan);
    std::vector<std::string> all;
    std::size_t end = 0;
    for (Stretch const& stretch : source().stretches_of(*loan)) {
      EXPECT_EQ(stretch.offset, end) << "there is a gap";
      EXPECT_EQ(stretch.at, next_[stretch.from]++);
      end += stretch.bytes;
      all.push_back(support::text_of(loan->filled_input().subspan(stretch.offset, stretch.bytes)));
    }
    EXPECT_EQ(end, loan->filled);
    EXPECT_EQ(loan->more_filled[0], all.size() * sizeof(Stretch));
    EXPECT_EQ(std::memcmp(loan->input(1).data(), source().stretches_of(*loan).data(), loan->more_filled[0]), 0);
    return all;
  }
  void next_datagram_is_first() { next_ = {}; }
  /// Returns those of so many tiles as bring `count`.
  std::vector<std::string> datagrams(std::size_t count) {
    std::vector<std::string> all;
    while (all.size() < count) {
      auto const more = tile();
      if (more.empty()) break;
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }

 private:
  std::array<std::uint64_t, 4> next_ = {};
};

TEST_F(ASocketForDatagrams, PutsThemIntoATileWithoutGaps) {
  auto const one = peer();
  for (auto const* const text : {"one", "", "three", "4"}) one.send_datagram(text);
  EXPECT_THAT(tile(), ElementsAre("one", "", "three", "4"));
}

TEST_F(ASocketForDatagrams, KeepsThemWholeWhateverTheirLengths) {
  auto const one = peer();
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> sent;
    for (std::size_t k = 1 + random() % 20; k > 0; --k) {
      std::size_t const most = round % 20 < 10 ? 4096 : 50;
      sent.emplace_back(random() % (most + 1), static_cast<char>('a' + random() % 26));
      one.send_datagram(sent.back());
    }
    ASSERT_EQ(datagrams(sent.size()), sent) << "round " << round;
  }
}

TEST_F(ASocketForDatagrams, GivesALongerOneTheRoomThatAShorterOneLeftAndNoneOfTheNext) {
  auto const one = peer();
  std::string const usual(50, 'u');
  for (std::size_t length = 45; length < 120; ++length) {
    // All are expected to be as long as these after so many.
    for (int k = 0; k < 40; ++k) {
      one.send_datagram(usual);
      ASSERT_THAT(tile(), ElementsAre(usual));
    }
    std::vector<std::string> const sent{"shorter", std::string(length, 'l'), usual, std::string(length, 'e')};
    for (auto const& text : sent) one.send_datagram(text);
    ASSERT_EQ(tile(), sent);
  }
}

TEST_F(ASocketForDatagrams, HasATileLeaveOnceItsTableIsFull) {
  auto const one = peer();
  for (int k = 0; k < 9; ++k) one.send_datagram(std::to_string(k));
  EXPECT_EQ(tile().size(), 8U);
  EXPECT_THAT(tile(), ElementsAre("8"));
}

TEST_F(ASocketForDatagrams, LeavesOutOrCutsThoseThatAreTooLong) {
  for (bool const truncates : {false, true}) {
    made = nullptr;
    next_datagram_is_first();
    options.longest = 10;
    options.long_records = truncates ? LongRecords::truncate : LongRecords::refuse;
    auto const one = peer();
    for (auto const* const text : {"one", "0123456789X", "0123456789"}) one.send_datagram(text);
    if (truncates) {
      EXPECT_THAT(datagrams(3), ElementsAre("one", "0123456789", "0123456789"));
    } else {
      EXPECT_THAT(datagrams(2), ElementsAre("one", "0123456789"));
    }
    EXPECT_EQ(source().counts().loss, (truncates ? RecordLoss{.truncated = 1} : RecordLoss{.refused = 1}));
    EXPECT_THAT(describe(source().left_out()), testing::HasSubstr("tile"));
  }
}

TEST_F(ASocketForDatagrams, CountsThoseThatTheSystemDrops) {
  options.receive_buffer = 1;
  options.idle = std::chrono::milliseconds(1);
  auto const one = peer();
  for (int k = 0; k < 100; ++k) one.send_datagram(std::string(1000, 'x'));
  std::size_t const came = datagrams(100).size();
  EXPECT_LT(came, 100U);
  EXPECT_EQ(source().counts().dropped, 100 - came);
  EXPECT_THAT(describe(source().left_out()), testing::HasSubstr("dropped by the system"));
}

TEST_F(ASocketForDatagrams, GivesWhatCameBeforeItEndsForSilence) {
  options.idle = std::chrono::milliseconds(0);
  peer().send_datagram("one");
  EXPECT_THAT(tile(), ElementsAre("one"));
  EXPECT_THAT(tile(), ElementsAre());
}

TEST_F(ASocketForDatagrams, HasThemAsTheyWereSentIfTheSystemCoalescesThem) {
  options.coalesce = true;
  EXPECT_THROW(source(), Error) << "these tiles are too small";
  TileShape const large{.input_bytes = 1 << 17};
  std::vector<std::byte> memory(Pool::slab_bytes(large, 1));
  Pool one_tile(memory, large, 1);
  DatagramSource coalesced({address}, one_tile, options);
  Peer const one(coalesced.addresses().front());
  one.send_datagrams(std::string(250, 'x'), 100);
  Loan const loan = one_tile.borrow();
  std::vector<std::uint64_t> lengths;
  ASSERT_TRUE(coalesced.next(*loan));
  EXPECT_EQ(coalesced.fill(*loan), 250U);
  for (Stretch const& stretch : coalesced.stretches_of(*loan)) lengths.push_back(stretch.bytes);
  EXPECT_THAT(lengths, ElementsAre(100, 100, 50));
}

TEST_F(ASocketForDatagrams, SpreadsThoseThatCameAsOneOverTilesIfATableIsTooShort) {
  options.coalesce = true;
  TileShape const large{.input_bytes = 1 << 16, .more_input_bytes = {8 * sizeof(Stretch)}};
  std::vector<std::byte> memory(Pool::slab_bytes(large, 1));
  Pool one_tile(memory, large, 1);
  DatagramSource coalesced({address}, one_tile, options);
  Peer(coalesced.addresses().front()).send_datagrams(std::string(1950, 'x'), 100);
  std::vector<std::size_t> filled;
  std::uint64_t next = 0;
  while (next < 20) {
    Loan const loan = one_tile.borrow();
    ASSERT_TRUE(coalesced.next(*loan));
    filled.push_back(coalesced.fill(*loan));
    for (Stretch const& stretch : coalesced.stretches_of(*loan)) EXPECT_EQ(stretch.at, next++);
    EXPECT_EQ(coalesced.counts().waiting, 20 - next);
  }
  EXPECT_THAT(filled, ElementsAre(800, 800, 350));
  EXPECT_EQ(coalesced.counts().datagrams, 20U);
}

TEST_F(ASocketForDatagrams, CountsThoseThatAStopLeavesBehind) {
  // Longer than it expects, so it receives both by one call.
  auto const one = peer();
  for (int k = 0; k < 2; ++k) one.send_datagram(std::string(3000, 'x'));
  EXPECT_EQ(tile().size(), 1U);
  stop.request_stop();
  EXPECT_THAT(tile(), ElementsAre());
  EXPECT_EQ(source().counts().datagrams, 1U);
  EXPECT_EQ(source().counts().waiting, 1U);
  EXPECT_THAT(describe(source().left_out()), testing::HasSubstr("1 datagram, received when"));
}

TEST_F(ASocketForDatagrams, NumbersItsSenders) {
  options.number_senders = true;
  auto const one = peer(), other = peer();
  for (auto const* const sends : {&one, &other, &one}) sends->send_datagram("x");
  Loan const loan = pool.borrow();
  ASSERT_TRUE(source().next(*loan));
  source().fill(*loan);
  std::vector<std::uint64_t> from;
  for (Stretch const& stretch : source().stretches_of(*loan)) from.push_back(stretch.from);
  EXPECT_THAT(from, ElementsAre(0, 1, 0));
  EXPECT_EQ(source().sender(0), one.address());
  EXPECT_EQ(source().sender(1), other.address());
  EXPECT_EQ(source().sender(2), "");
}

TEST_F(ASocketForDatagrams, StopsAtOnceWhileNothingComes) {
  source();
  std::atomic<pid_t> thread{0};
  std::jthread waits([&] {
    thread = gettid();
    EXPECT_THAT(tile(), ElementsAre());
  });
  while (thread == 0) std::this_thread::yield();
  support::await_asleep(thread);
  stop.request_stop();
}

TEST_F(ASocketForDatagrams, JoinsAGroup) {
  address = "udp:239.255.77.77:0";
  options.interface = "lo";
  options.idle = std::chrono::seconds(10);  // The loopback may have no multicast.
  try {
    source();
  } catch (Error const& error) {
    GTEST_SKIP() << error.what();
  }
  auto const one = peer();
  one.send_by_loopback();
  one.send_datagram("hello");
  EXPECT_THAT(tile(), ElementsAre("hello"));
  made = nullptr;
  options.sockets = 2;
  EXPECT_THROW(source(), Error) << "each would get all";
}

TEST_F(ASocketForDatagrams, JoinsAGroupOfOneLink) {
  try {
    DatagramSource const any({"udp:[::1]:0"}, pool);
  } catch (Error const& error) {
    GTEST_SKIP() << error.what();
  }
  options.interface = "lo";
  DatagramSource const joined({"udp:[ff02::1234]:0"}, pool, options);
  EXPECT_THAT(joined.addresses().front(), testing::StartsWith("udp:[ff02::1234%lo]:"));
}

TEST(NapsBetweenLooksAtASocket, GrowWhileItsBufferIsNearlyEmptyAndShrinkBeforeItIsFull) {
  Naps naps;
  std::vector<std::int64_t> lengths;
  for (std::size_t const held : {9U, 8U, 15U, 1U, 0U, 16U, 100U, 128U, 0U}) {
    naps.ended(held, 128);
    lengths.push_back(naps.length().count());
  }
  EXPECT_THAT(lengths, ElementsAre(100, 200, 200, 400, 800, 400, 200, 100, 200));
  naps.ended(0, 0);
  EXPECT_EQ(naps.length().count(), 200) << "nothing is known of this one";
}

TEST(TheBufferOfASocket, HasWhatWasNotReceivedYet) {
  auto const all = DatagramSocket::open_all("udp:127.0.0.1:0", {.receive_buffer = std::size_t{1} << 16});
  EXPECT_EQ(all.front()->buffer().held, 0U);
  Peer(all.front()->address()).send_datagram(std::string(1000, 'x'));
  EXPECT_GE(all.front()->buffer().held, 1000U);
  EXPECT_LT(all.front()->buffer().held, all.front()->buffer().room);
}

TEST_F(ASocketForDatagrams, RefusesWhatIsNoAddress) {
  for (auto const* const wrong : {"", "udp:", "tcp:127.0.0.1:0", "udp:192.0.2.1:0"}) {
    EXPECT_THROW(DatagramSource({wrong}, pool), Error) << wrong;
  }
  EXPECT_THROW(DatagramSource({source().addresses()[0]}, pool), Error) << "it is taken";
  EXPECT_THROW(DatagramSource({address}, pool, {.longest = 4097}), Error);
  EXPECT_THROW(DatagramSource({address}, pool, {.sockets = 0}), Error);
  EXPECT_THROW(DatagramSource({"udp:239.1.1.1:0"}, pool, {.interface = "none"}), Error);
}

}  // namespace
}  // namespace penstock
