// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/folder_of_files.hpp"
#include "support/records_of_text.hpp"
#include "support/thread_state.hpp"
#include <gmock/gmock.h>
#include <linux/capability.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "engine/core/descriptor.hpp"
#include "engine/core/pool.hpp"
#include "ingest/net/peer.hpp"
#include "penstock/ingest/framing.hpp"
#include "penstock/ingest/sockets.hpp"

namespace penstock {
namespace {

using support::Peer;
using testing::ElementsAre, testing::HasSubstr;

constexpr std::size_t headers = 14 + 20 + 8;  // Ethernet, IPv4, UDP.

/// A network namespace with nothing but a loopback interface, a socket that packets are sent to, and four tiles. It
/// must leave with all tiles home and no descriptor more than there were.
struct AnInterfaceOfItsOwn : testing::Test {
  static constexpr std::size_t tile_bytes = 1 << 17;
  static constexpr TileShape shape{.input_bytes = tile_bytes,
                                   .more_input_bytes = {record_places_bytes(tile_bytes, 60)}};
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 4));
  Pool pool{slab, shape, 4};
  std::stop_source stop;
  PacketSourceOptions options{.stop = stop.get_token(), .ring_bytes = 1 << 20};
  std::unique_ptr<PacketSource> made;
  std::optional<Descriptor> target;
  std::string address;
  std::size_t const descriptors = support::open_descriptors();

  void SetUp() override {
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
      GTEST_SKIP() << "no network namespace can be made here: errno " << errno;
    }
    set_up(true);
    target.emplace(socket(AF_INET, SOCK_DGRAM, 0));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(bind(target->number, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    address = "udp:" + text_of(address_of(target->number));
  }
  void TearDown() override {
    made = nullptr;
    target.reset();
    EXPECT_EQ(support::open_descriptors(), descriptors) << "a socket stayed open";
    EXPECT_EQ(pool.on_loan(), 0U) << "a tile never came home";
  }
  static void set_up(bool up) {
    Descriptor const any(socket(AF_INET, SOCK_DGRAM, 0));
    ifreq asked{};
    std::strcpy(asked.ifr_name, "lo");
    asked.ifr_flags = static_cast<short>(up ? IFF_UP : 0);
    ASSERT_EQ(ioctl(any.number, SIOCSIFFLAGS, &asked), 0) << "errno " << errno;
  }
  PacketSource& source() {
    if (made == nullptr) made = std::make_unique<PacketSource>("lo", pool, options);
    return *made;
  }
  /// The next tile's packets, each without the header in front of it.
  std::vector<std::string> tile() {
    Loan const loan = pool.borrow();
    if (!source().next(*loan)) return {};
    loan->filled = source().fill(*loan);
    std::vector<std::string> all;
    std::vector<std::uint32_t> places;
    each_record(source().framing(), loan->filled_input(), [&](std::span<std::byte const> record) {
      places.push_back(static_cast<std::uint32_t>(record.data() - loan->input().data()));
      std::array<std::uint32_t, 4> head{};
      std::memcpy(head.data(), record.data(), sizeof head);
      EXPECT_GT(head[0], 1'600'000'000U) << "it has no time";
      EXPECT_LT(head[1], 1'000'000'000U);
      EXPECT_EQ(head[2], record.size() - 16);
      EXPECT_GE(head[3], head[2]);
      all.push_back(support::text_of(record.subspan(16)));
    });
    RecordPlaces says;
    std::memcpy(&says, loan->input(1).data(), sizeof says);
    EXPECT_EQ(says.records, all.size());
    EXPECT_EQ(CaptureNotes::of(says.notes).kind.link, 1U);
    EXPECT_EQ(CaptureNotes::of(says.notes).kind.time_unit, 9U);
    EXPECT_EQ(std::memcmp(loan->input(1).data() + sizeof says, places.data(), 4 * places.size()), 0);
    return all;
  }
  /// The payloads of as many tiles as bring `count`.
  std::vector<std::string> payloads(std::size_t count) {
    std::vector<std::string> all;
    while (all.size() < count) {
      auto const more = tile();
      if (more.empty()) break;
      for (std::string const& packet : more) all.push_back(packet.substr(headers));
    }
    return all;
  }
};

TEST_F(AnInterfaceOfItsOwn, BringsEachPacketOnceAsACaptureHasIt) {
  source();
  Peer const one(address);
  for (auto const* const text : {"one", "two", ""}) one.send_datagram(text);
  EXPECT_THAT(payloads(3), ElementsAre("one", "two", ""));
  EXPECT_EQ(source().counts().packets, 3U);
  EXPECT_EQ(source().counts().bytes, 3 * headers + 6);
  EXPECT_EQ(source().counts().waiting + source().counts().dropped, 0U);
  EXPECT_THAT(source().left_out(), ElementsAre());
}

TEST_F(AnInterfaceOfItsOwn, HasTheBeginningOfLongPackets) {
  options.longest = headers + 4;
  source();
  Peer const one(address);
  for (auto const* const text : {"1234", "12345678"}) one.send_datagram(text);
  EXPECT_THAT(payloads(2), ElementsAre("1234", "1234"));
  EXPECT_EQ(source().counts().truncated, 1U);
  EXPECT_THAT(describe(source().left_out()), HasSubstr("only in its first bytes"));
}

TEST_F(AnInterfaceOfItsOwn, CountsWhatFindsNoRoomInItsRing) {
  options.ring_bytes = 1, options.idle = std::chrono::milliseconds(20);
  source();
  Peer const one(address);
  for (int k = 0; k < 30; ++k) one.send_datagram(std::string(60'000, 'x'));
  EXPECT_GT(source().counts().dropped, 0U);
  EXPECT_EQ(source().counts().waiting + source().counts().dropped, 30U);
  EXPECT_EQ(payloads(30).size() + source().counts().dropped, 30U);
  EXPECT_EQ(source().counts().waiting, 0U);
  EXPECT_THAT(describe(source().left_out()), HasSubstr("a ring was full"));
}

TEST_F(AnInterfaceOfItsOwn, SharesPacketsOutToRingsByTheirFlows) {
  options.rings = 3;
  options.ring_bytes = 4 << 20;
  source();
  constexpr std::size_t flows = 8, each = 50;
  std::vector<Peer> peers;
  for (std::size_t k = 0; k < flows; ++k) peers.emplace_back(address);
  std::array<std::size_t, flows> next{};
  // The system closes a block after some milliseconds, whatever is in it. So that a ring is never full, however slow
  // this machine is, no more packets are under way than it has blocks.
  for (std::size_t round = 0; round < each; ++round) {
    for (std::size_t k = 0; k < flows; ++k) peers[k].send_datagram(std::to_string(k) + ":" + std::to_string(round));
    for (std::string const& text : payloads(flows)) {
      EXPECT_EQ(std::stoul(text.substr(2)), next.at(static_cast<std::size_t>(text[0] - '0'))++) << text;
    }
  }
  for (std::size_t const came : next) EXPECT_EQ(came, each);
  EXPECT_EQ(source().counts().packets, flows * each);
  EXPECT_EQ(source().counts().waiting, 0U) << "each of them once";
}

TEST_F(AnInterfaceOfItsOwn, HasTheTagsOfVlansThatTheSystemTookOut) {
  source();
  std::string frame(12, '\0');
  frame += std::string("\x81\x00\x60\x05\x88\xb5", 6) + std::string(60, 'x');
  Descriptor const raw(socket(AF_PACKET, SOCK_RAW, 0));
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_ifindex = static_cast<int>(if_nametoindex("lo"));
  to.sll_halen = 6;
  ASSERT_GT(sendto(raw.number, frame.data(), frame.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  EXPECT_THAT(tile(), ElementsAre(frame));
}

TEST_F(AnInterfaceOfItsOwn, HasATileLeaveOnceItsTableIsFull) {
  constexpr TileShape small{.input_bytes = tile_bytes, .more_input_bytes = {sizeof(RecordPlaces) + 4 * 4}};
  std::vector<std::byte> memory(Pool::slab_bytes(small, 1));
  Pool one_tile(memory, small, 1);
  PacketSource few("lo", one_tile, options);
  Peer const one(address);
  for (int k = 0; k < 10; ++k) one.send_datagram("x");
  std::size_t came = 0;
  while (came < 10) {
    Loan const loan = one_tile.borrow();
    ASSERT_TRUE(few.next(*loan));
    few.fill(*loan);
    RecordPlaces says;
    std::memcpy(&says, loan->input(1).data(), sizeof says);
    EXPECT_LE(says.records, 4U);
    came += says.records;
  }
  EXPECT_EQ(came, 10U);
}

TEST_F(AnInterfaceOfItsOwn, StopsAtOnceWhileNothingComes) {
  source();
  std::atomic<pid_t> thread{0};
  std::jthread const waits([&] {
    thread = gettid();
    EXPECT_THAT(tile(), ElementsAre());
  });
  while (thread == 0) std::this_thread::yield();
  support::await_asleep(thread);
  stop.request_stop();
}

TEST_F(AnInterfaceOfItsOwn, SaysThatItWentDown) {
  source();
  set_up(false);
  try {
    tile();
    FAIL() << "it brings nothing";
  } catch (Error const& error) {
    EXPECT_THAT(error.what(), HasSubstr("brings nothing any more"));
  }
  made = nullptr;
  EXPECT_THROW(source(), Error);
}

TEST_F(AnInterfaceOfItsOwn, HasATileLeaveWithItsPacketsBeforeItSaysThatItWentDown) {
  options.linger = std::chrono::milliseconds(20);
  source();
  Peer(address).send_datagram("one");
  Loan const loan = pool.borrow();
  ASSERT_TRUE(source().next(*loan));
  set_up(false);
  EXPECT_EQ(source().fill(*loan), 16 + headers + 3);
  EXPECT_THROW(tile(), Error);
}

TEST_F(AnInterfaceOfItsOwn, SaysWhatMustBeDoneIfTheRightIsMissing) {
  __user_cap_header_struct head{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> had{};
  ASSERT_EQ(syscall(SYS_capget, &head, had.data()), 0);
  auto less = had;
  less[0].effective &= ~(1U << CAP_NET_RAW);
  ASSERT_EQ(syscall(SYS_capset, &head, less.data()), 0);
  try {
    source();
    ADD_FAILURE() << "it has no right to that";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::system);
    EXPECT_THAT(error.what(), HasSubstr("setcap cap_net_raw=ep"));
  }
  ASSERT_EQ(syscall(SYS_capset, &head, had.data()), 0);
}

TEST_F(AnInterfaceOfItsOwn, RefusesWhatDoesNotFit) {
  for (auto const* const wrong : {"", "nothing0", "a name that is too long"}) {
    EXPECT_THROW(PacketSource(wrong, pool, options), Error) << wrong;
  }
  EXPECT_THROW(PacketSource("lo", pool, {.longest = tile_bytes}), Error);
  EXPECT_THROW(PacketSource("lo", pool, {.longest = 100, .rings = 0}), Error);
  constexpr TileShape small{.input_bytes = 4096, .more_input_bytes = {16}};
  std::vector<std::byte> memory(Pool::slab_bytes(small, 1));
  Pool one_tile(memory, small, 1);
  EXPECT_THROW(PacketSource("lo", one_tile, {.longest = 100}), Error);
}

}  // namespace
}  // namespace penstock
