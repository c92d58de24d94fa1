// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/packets/packet_sums_on_device.hpp"

namespace penstock {
namespace {

using support::MadeCapture;

/// A link, and what a packet of it has in front of IP.
struct FrontOfIp {
  std::uint32_t link;
  std::string octets;  ///< Hexadecimal, with blanks.
};

std::string octets_of(std::string const& text) {
  std::string octets;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] == ' ') continue;
    octets += static_cast<char>(std::stoi(text.substr(k++, 2), nullptr, 16));
  }
  return octets;
}

std::string const addresses = "020202020202 040404040404 ", many = "00000000 00000000 00000000 00000000 ";

std::vector<FrontOfIp> const fronts_of_four{
    {0, "02000000"},
    {0, "00000002"},
    {1, addresses + "0800"},
    {1, addresses + "8100 0007 88a8 0008 9100 0009 8100 0001 8100 0001 8100 0001 0800"},
    {1, addresses + "8847 00064040 00064140"},
    {1, addresses + "8847 00064140 00000000" + addresses + "0800"},
    {1, addresses + "8847 00064140" + addresses + "8100 0007 0800"},
    {1, addresses + "8864 1100 0001 0022 0021"},
    {1, addresses + "8864 1100 0001 0022 21"},
    {1, addresses + "8100 0007 8864 1100 0001 0022 0281 00064140"},
    {1, addresses + "880b 0021"},
    {1, addresses + "0040 aaaa03 000000 0800"},
    {1, addresses + "0040 aaaa03 0000f8 8100 0007 0800"},
    {1, addresses + "0040 060603"},
    {1, addresses + "8926 00000000 0800"},
    {1, addresses + "892f 00000000 0800"},
    {1, addresses + "893f 000000000000 0800"},
    {1, addresses + "88e7 00000000" + addresses + "0800"},
    {1, addresses + "6558" + addresses + "0800"},
    {1, addresses + "894f 0002 0101 00000000"},
    {1, addresses + "894f 0003 0103 00000000 00000000" + addresses + "0800"},
    {6, "1040 " + addresses + "aaaa03 000000 0800"},
    {6, "1040 020202020202 840404040404 0440 0000 aaaa03 000000 0800"},
    {8, many},
    {9, "ff03 0021"},
    {9, "0021"},
    {9, "21"},
    {9, "ff03 21"},
    {10, "50 " + addresses + "aaaa03 000000 0800"},
    {12, ""},
    {14, ""},
    {50, "ff03 0021"},
    {50, "0f00 0800"},
    {51, "1100 0001 0022 0021"},
    {100, "aaaa03 000000 0800"},
    {100, "aaaa03 0080c2 0007 0000" + addresses + "0800"},
    {100, "fefe03 cc"},
    {101, ""},
    {104, "0f00 0800"},
    {105, "0800 0000 010101010101 020202020202 030303030303 1000 aaaa03 000000 0800"},
    {105, "8803 0000 010101010101 020202020202 030303030303 1000 040404040404 0000 aaaa03 000000 0800"},
    {106, "aaaa03 000000 0800"},
    {107, "1841 03cc"},
    {107, "1841 03 00 80 000000 0800"},
    {107, "1840 0841 0800"},
    {108, "00000002"},
    {109, "02000000 00000000 00000000"},
    {113, "0000 0001 0006 040404040404 0000 0800"},
    {113, "0000 0001 0006 040404040404 0000 8100 0007 0800"},
    {113, "0000 0001 0006 040404040404 0000 0004 aaaa03 000000 0800"},
    {117, "3d020000" + many + many + many + "00000000 00000000 00000000"},
    {119, "80211001 00000040 " + many + many + many + "00000000 00000000" +
              "0800 0000 010101010101 020202020202 030303030303 1000 aaaa03 000000 0800"},
    {122, "0101010101010101 0202020202020202 aaaa03 000000 0800"},
    {127, "0000 0800 00000000 0800 0000 010101010101 020202020202 030303030303 1000 aaaa03 000000 0800"},
    {127,
     "0000 1100 03000000 0000000000000000 20"
     "8800 0000 010101010101 020202020202 030303030303 1000 0000 0000 aaaa03 000000 0800"},
    {127,
     "0000 1900 03000080 00000000 00000000 0000000000000000 00"
     "8800 0000 010101010101 020202020202 030303030303 1000 0000 aaaa03 000000 0800"},
    {138, "0101010101010101 0202020202020202 0800"},
    {163,
     "80211001 00000010 0000000000000000"
     "0800 0000 010101010101 020202020202 030303030303 1000 aaaa03 000000 0800"},
    {166, "0003 0021"},
    {192, "0000 0800 01000000" + addresses + "0800"},
    {204, "01 ff03 0021"},
    {205, "01 0f00 0800"},
    {206, "01 1841 03cc"},
    {219, "00064140"},
    {226, "0102 0000 " + many + "00000000"},
    {228, ""},
    {239, "0200 0000 0800 0100 00000000 0500 0a00 61000000 3000 0900"},
    {239, "0200 0000 0008 0001 00000000 0030 0009"},
    {240, "00000000" + addresses + "0800"},
    {241, "00000000 55555555555555d5" + addresses + "0800"},
    {242, many + many + "00000000 00000000 0800 0000"},
    {258, "0c000000 01000000 01000000" + addresses + "0800"},
    {259, "55555555555555d5" + addresses + "0800"},
    {274, "55555555555555d5" + addresses + "0800"},
    {276, "0800 0000 00000002 0001 00 06 040404040404 0000"},
    {276, "8100 0000 00000002 0001 00 06 040404040404 0000 0007 0800"},
    {276, "0004 0000 00000002 0001 00 06 040404040404 0000 aaaa03 000000 0800"},
    {281, addresses + "00000000 0800"},
    {282, "00000000" + addresses + "0800"},
    {284, addresses + "00000000 8100 0007 0800"},
    {285, addresses + "dada 0000 00000000 0800"},
};

std::vector<FrontOfIp> const fronts_of_none{
    {0, "07000000"},
    {1, addresses + "0806"},
    {1, addresses + "8863 1100 0001 0022 0021"},
    {1, addresses + "8864 1109 0001 0022 0021"},
    {1, addresses + "8847 00064040 00064040"},
    {1, addresses + "0040 424203"},
    {6, "1000 " + addresses + "aaaa03 000000 0800"},
    {9, "ff03 c021"},
    {105, "8000 0000 010101010101 020202020202 030303030303 1000 aaaa03 000000 0800"},
    {105, "0840 0000 010101010101 020202020202 030303030303 1000 aaaa03 000000 0800"},
    {113, "0000 0338 0006 040404040404 0000 0001"},
    {226, "0100 0000 " + many + "00000000"},
    {239, "0700 0000 3000 0900"},
    {274, "555555555555554c" + addresses + "0800"},
};

std::string ip_packet(unsigned version) {
  support::PacketPlan const plan{
      .key = {.source_port = 7, .target_port = 9, .protocol = 17, .version = static_cast<std::uint8_t>(version)},
      .payload = "twenty octets, filled"};
  return support::made_packet(plan).substr(14);
}

TEST_P(KernelsOn, SumPacketsBehindWhatEachLinkHasInFrontOfThem) {
  for (FrontOfIp const& front : fronts_of_four) {
    MadeCapture capture(MadeCapture::Format::pcap, false, false, front.link);
    std::string const octets = octets_of(front.octets);
    capture.add({octets + ip_packet(4), 1});
    PacketSums const found = sums_of(*this, {capture.text});
    std::string const which = std::to_string(front.link) + ": " + front.octets;
    EXPECT_EQ(found.totals.ipv4, 1U) << which;
    EXPECT_EQ(found.totals.checked, 1U) << which;
    EXPECT_EQ(found.totals.bad + found.totals.bad_headers, 0U) << which;
    ASSERT_EQ(found.flows.size(), 1U) << which;
    EXPECT_EQ(found.flows.begin()->first.source_port, 7) << which;
  }
}

TEST_P(KernelsOn, SumPacketsOfKnownLinksThatHaveNoIp) {
  for (FrontOfIp const& front : fronts_of_none) {
    MadeCapture capture(MadeCapture::Format::pcap, false, false, front.link);
    capture.add({octets_of(front.octets) + ip_packet(4), 1});
    PacketSums const found = sums_of(*this, {capture.text});
    EXPECT_EQ(found.totals.other, 1U) << front.link << ": " << front.octets;
    EXPECT_TRUE(found.flows.empty()) << front.link << ": " << front.octets;
  }
}

/// However much of it was captured, each packet is one, and none reads beyond its end.
TEST_P(KernelsOn, SumPacketsThatAreCutAnywhereInFrontOfIp) {
  for (FrontOfIp const& front : fronts_of_four) {
    MadeCapture capture(MadeCapture::Format::pcapng, false, false, front.link);
    std::string const octets = octets_of(front.octets) + ip_packet(6);
    for (std::size_t bytes = 0; bytes < octets.size(); ++bytes) {
      capture.add({octets.substr(0, bytes), 1, static_cast<std::uint32_t>(octets.size())});
    }
    PacketSums const found = sums_of(*this, {capture.text});
    EXPECT_EQ(found.totals.packets, octets.size()) << front.link << ": " << front.octets;
    EXPECT_EQ(found.totals.ipv6 + found.totals.other + found.totals.ipv4, octets.size());
    EXPECT_EQ(found.totals.checked, 0U) << front.link << ": " << front.octets;
  }
}

}  // namespace
}  // namespace penstock
