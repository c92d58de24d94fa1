// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include "kernels/packets/packet_sums_on_device.hpp"

namespace penstock {
namespace {

using support::MadeCapture, support::of_half;

/// An address by its last octet.
std::string four(char last) {
  return std::string("\x0A\0\0", 3) + last;
}
std::string six(char last) {
  std::string address(16, '\0');
  address.front() = '\xFD';
  address.back() = last;
  return address;
}

/// A datagram whose checksum is over these addresses.
std::string datagram(std::string const& source, std::string const& target) {
  std::string const behind = of_half(7) + of_half(9) + of_half(13) + of_half(0) + "hello";
  std::string whole = behind;
  whole.replace(6, 2, of_half(support::checksum(source + target + of_half(17) + of_half(13) + behind)));
  return whole;
}
std::string packet_of_four(std::string const& options, std::string const& behind, char protocol = 17) {
  auto const header = static_cast<unsigned>(20 + options.size());
  std::string head = of_half(0x4000 | header / 4 << 8U) + of_half(static_cast<unsigned>(header + behind.size())) +
                     of_half(1) + of_half(0) + "\x40" + protocol + of_half(0) + four(1) + four(2) + options;
  return head.replace(10, 2, of_half(support::checksum(head))) + behind;
}
std::string packet_of_six(char next, std::string const& behind) {
  return of_half(0x6000) + of_half(0) + of_half(static_cast<unsigned>(behind.size())) + next + "\x40" + six(1) +
         six(2) + behind;
}
/// A header that others are behind, filled up to its length.
std::string extension(char next, std::string body) {
  body.resize((body.size() + 2 + 7) / 8 * 8 - 2);
  return next + std::string(1, static_cast<char>((body.size() + 2) / 8 - 1)) + body;
}
std::string route(char next, char type, std::string const& body) {
  return extension(next, std::string{type, '\1'} + std::string(4, '\0') + body);
}

/// Sums of packets as they are, without a link in front.
class Headers {
 public:
  explicit Headers(KernelsOn& on) : on_(on) {}
  PacketTotals totals_of(std::string const& packet, std::uint32_t original = 0) {
    MadeCapture capture(MadeCapture::Format::pcap, false, true, 101);
    capture.add({packet, 5, original});
    found_ = sums_of(on_, {capture.text});
    return found_.totals;
  }
  void expect_right(std::string const& packet) {
    PacketTotals const totals = totals_of(packet);
    EXPECT_EQ(totals.checked, 1U);
    EXPECT_EQ(totals.bad + totals.bad_headers + totals.unknown_routes, 0U);
    ASSERT_EQ(found_.flows.size(), 1U);
    EXPECT_EQ(found_.flows.begin()->first.target_port, 9);
    // A wrong byte shows.
    EXPECT_EQ(totals_of(packet.substr(0, packet.size() - 1) + 'x').bad, 1U);
  }

 private:
  KernelsOn& on_;
  PacketSums found_;
};

TEST_P(KernelsOn, SumPacketsWhereChecksumsAreOverTheLastAddressOfASourceRoute) {
  Headers headers(*this);
  for (char const kind : {'\x83', '\x89'}) {
    std::string const begun = kind + std::string("\x0B\x04", 2) + four(8) + four(9) + '\0';
    std::string const passed = kind + std::string("\x0B\x0C", 2) + four(8) + four(9) + '\0';
    headers.expect_right(packet_of_four(begun, datagram(four(1), four(9))));
    headers.expect_right(packet_of_four(passed, datagram(four(1), four(2))));
    headers.expect_right(packet_of_four("\1\1\1\1" + begun, datagram(four(1), four(9))));
  }
  std::string const recorded = std::string("\x07\x0B\x04", 3) + four(8) + four(9) + '\0';
  headers.expect_right(packet_of_four(recorded, datagram(four(1), four(2))));
}

TEST_P(KernelsOn, SumPacketsWhereChecksumsAreOverTheLastAddressOfARoutingHeader) {
  Headers headers(*this);
  headers.expect_right(packet_of_six(43, route(17, 0, six(8) + six(9)) + datagram(six(1), six(9))));
  headers.expect_right(packet_of_six(43, route(17, 2, six(9)) + datagram(six(1), six(9))));
  headers.expect_right(packet_of_six(43, route(17, 4, six(9) + six(8)) + datagram(six(1), six(9))));
  // Type 3 leaves out what addresses have in common: here 15 octets, and 7 are padding.
  std::string const compressed = extension(17, std::string("\3\1\xFF\x70\0\0\x09", 7) + std::string(7, '\0'));
  headers.expect_right(packet_of_six(43, compressed + datagram(six(1), six(9))));
  // It has passed all of them.
  std::string passed = route(17, 4, six(9) + six(8));
  passed[3] = '\0';
  headers.expect_right(packet_of_six(43, passed + datagram(six(1), six(2))));
}

TEST_P(KernelsOn, SumPacketsWhereARoutingHeaderOfAnotherTypeLeavesAChecksumOutAndIsCounted) {
  Headers headers(*this);
  PacketTotals const totals = headers.totals_of(packet_of_six(43, route(17, 99, "") + datagram(six(1), six(2))));
  EXPECT_EQ(totals.checked, 0U);
  EXPECT_EQ(totals.unknown_routes, 1U);
}

TEST_P(KernelsOn, SumPacketsWhereChecksumsAreOverTheHomeAddressOfAMobileNode) {
  Headers headers(*this);
  std::string const home = std::string("\1\2\0\0\xC9\x10", 6) + six(7);
  headers.expect_right(packet_of_six(60, extension(17, home) + datagram(six(7), six(2))));
}

TEST_P(KernelsOn, SumPacketsWhereAnyNumberOfHeadersIsFollowed) {
  Headers headers(*this);
  for (int const count : {9, 64, 1000}) {
    std::string chain = datagram(six(1), six(2));
    for (int k = 0; k < count; ++k) chain.insert(0, extension(k == 0 ? 17 : 60, std::string("\1\4\0\0\0\0", 6)));
    headers.expect_right(packet_of_six(60, chain));
  }
}

TEST_P(KernelsOn, SumPacketsWhereAuthenticationIsFollowedInBothVersions) {
  Headers headers(*this);
  std::string const authentication = std::string("\x11\4\0\0", 4) + std::string(20, 'a');
  headers.expect_right(packet_of_four("", authentication + datagram(four(1), four(2)), 51));
  headers.expect_right(packet_of_six(51, authentication + datagram(six(1), six(2))));
}

TEST_P(KernelsOn, SumPacketsWhereWithoutALengthAPacketIsWholeIfAllOfItWasCaptured) {
  Headers headers(*this);
  std::string four_one = packet_of_four("", datagram(four(1), four(2)));
  four_one.replace(2, 2, of_half(0));
  four_one.replace(10, 2, of_half(0)).replace(10, 2, of_half(support::checksum(four_one.substr(0, 20))));
  std::string six_one = packet_of_six(17, datagram(six(1), six(2)));
  six_one.replace(4, 2, of_half(0));
  for (std::string const& packet : {four_one, six_one}) {
    headers.expect_right(packet);
    PacketTotals const totals =
        headers.totals_of(packet.substr(0, packet.size() - 1), static_cast<std::uint32_t>(packet.size()));
    EXPECT_EQ(totals.checked, 0U);
  }
}

TEST_P(KernelsOn, SumPacketsWhereAJumbogramHasItsLengthInAnOption) {
  Headers headers(*this);
  std::string const behind = extension(17, std::string("\xC2\4\0\0\0\x15", 6)) + datagram(six(1), six(2));
  std::string packet = packet_of_six(0, behind);
  packet.replace(4, 2, of_half(0));
  headers.expect_right(packet);
  // The padding of a link is no part of it.
  EXPECT_EQ(headers.totals_of(packet + "padding").bad, 0U);
  EXPECT_EQ(headers.totals_of(packet.substr(0, packet.size() - 1), static_cast<std::uint32_t>(packet.size())).checked,
            0U);
}

TEST_P(KernelsOn, SumPacketsWhereADatagramOfSixMustHaveAChecksum) {
  Headers headers(*this);
  std::string datagram_of_six = datagram(six(1), six(2));
  datagram_of_six.replace(6, 2, of_half(0));
  PacketTotals const totals = headers.totals_of(packet_of_six(17, datagram_of_six));
  EXPECT_EQ(totals.checked, 1U);
  EXPECT_EQ(totals.bad, 1U);
}

TEST_P(KernelsOn, SumPacketsWhereALengthOfNoDatagramIsNotChecked) {
  Headers headers(*this);
  std::string of_four = datagram(four(1), four(2)), of_six = datagram(six(1), six(2));
  of_four.replace(4, 2, of_half(0));
  EXPECT_EQ(headers.totals_of(packet_of_four("", of_four)).checked, 0U);
  // A length of 0 stands for all that is there in IPv6.
  of_six.replace(4, 2, of_half(0));
  of_six.replace(6, 2, of_half(0))
      .replace(6, 2, of_half(support::checksum(six(1) + six(2) + of_half(17) + of_half(13) + of_six)));
  headers.expect_right(packet_of_six(17, of_six));
}

TEST_P(KernelsOn, SumPacketsWhereASimplePacketHasNoTime) {
  MadeCapture capture(MadeCapture::Format::pcapng, false, true, 101);
  std::string const packet = packet_of_four("", datagram(four(1), four(2)));
  capture.text += capture.block(3, capture.word(static_cast<std::uint32_t>(packet.size())) + packet);
  PacketFlow flow = sums_of(*this, {capture.text}).flows.begin()->second;
  EXPECT_EQ(flow.first, no_packet_time);
  EXPECT_TRUE(describe(flow).ends_with(" - - -")) << describe(flow);
  capture.add({packet, 1'000'000'005});
  flow = sums_of(*this, {capture.text}).flows.begin()->second;
  EXPECT_EQ(flow.first, 1'000'000'005U);
  EXPECT_EQ(flow.last, 1'000'000'005U);
}

}  // namespace
}  // namespace penstock
