// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/made_captures.hpp"
#include "support/made_packets.hpp"

#include "kernels/packets/packet_sums_on_device.hpp"
#include "penstock/error.hpp"
#include "penstock/packets/packet_sums.hpp"

namespace penstock {
namespace {

using support::MadeCapture;
using support::PacketPlan;

void expect_same(PacketSums const& found, PacketSums const& wanted) {
  EXPECT_EQ(found.totals, wanted.totals);
  ASSERT_EQ(found.flows.size(), wanted.flows.size());
  for (auto const& [key, flow] : wanted.flows) {
    auto const there = found.flows.find(key);
    ASSERT_NE(there, found.flows.end());
    EXPECT_EQ(there->second.packets, flow.packets);
    EXPECT_EQ(there->second.bytes, flow.bytes);
    EXPECT_EQ(there->second.first, flow.first);
    EXPECT_EQ(there->second.last, flow.last);
    EXPECT_EQ(there->second.flags, flow.flags);
  }
}

PacketPlan some_plan(std::mt19937& random) {
  PacketPlan plan;
  plan.key.version = random() % 3 == 0 ? 6 : 4;
  unsigned const protocols[] = {6, 6, 17, 17, plan.key.version == 4 ? 1U : 58U, 47};
  plan.key.protocol = static_cast<std::uint8_t>(protocols[random() % std::size(protocols)]);
  plan.key.source[0] = static_cast<std::uint8_t>(random() % 4);
  plan.key.target[3] = static_cast<std::uint8_t>(random() % 8);
  if (plan.key.version == 6) plan.key.target[15] = static_cast<std::uint8_t>(random() % 4);
  plan.payload = support::some_bytes(random, random() % 4 == 0 ? 1400 : 60);
  plan.vlan_tags = static_cast<int>(random() % 8 == 0 ? random() % 3 : 0);
  plan.options = random() % 8 == 0 ? random() % 4 : 0;
  plan.bad_header = plan.key.version == 4 && random() % 20 == 0;
  plan.bad_payload = random() % 20 == 0;
  bool const ports = plan.key.protocol == 6 || plan.key.protocol == 17;
  if (plan.key.version == 4 && random() % 20 == 0) plan.fragment = random() % 2 == 0 ? 0x2000 : 7;
  if (ports && (plan.fragment & 0x1FFFU) == 0) {
    plan.key.source_port = static_cast<std::uint16_t>(1024 + random() % 6);
    plan.key.target_port = 443;
  }
  if (plan.fragment != 0 && plan.key.protocol == 6) plan.flags = (plan.fragment & 0x1FFFU) != 0 ? 0 : plan.flags;
  if (plan.key.protocol == 6 && plan.fragment == 0) plan.flags = 1U << random() % 8;
  plan.no_checksum = plan.key.protocol == 17 && plan.key.version == 4 && random() % 10 == 0;
  return plan;
}

TEST_P(KernelsOn, SumPacketsOfEachFormatByFlow) {
  std::mt19937 random(11);
  for (bool const swapped : {false, true}) {
    for (auto const format : {MadeCapture::Format::pcap, MadeCapture::Format::pcapng}) {
      PacketSums wanted;
      std::vector<std::string> captures;
      for (int tile = 0; tile < 40; ++tile) {
        MadeCapture capture(format, swapped, swapped);
        for (std::size_t k = random() % 200; k > 0; --k) {
          PacketPlan const plan = some_plan(random);
          MadeCapture::Packet packet{support::made_packet(plan),
                                     1'700'000'000'000'000'000 + random() % 4096 * 1'000'000};
          if (random() % 10 == 0 && packet.bytes.size() > 130) {
            packet.original = static_cast<std::uint32_t>(packet.bytes.size());
            packet.bytes.resize(120);
          }
          capture.add(packet);
          wanted.add(packet, plan);
        }
        captures.push_back(capture.text);
      }
      expect_same(sums_of(*this, captures), wanted);
      expect_same(sums_of(*this, captures, 8192, 1), wanted);
    }
  }
}

TEST_P(KernelsOn, SumPacketsThatAreNoneOfIp) {
  MadeCapture ethernet(MadeCapture::Format::pcap, false, false, 1),
      unknown(MadeCapture::Format::pcap, false, false, 147);
  ethernet.add({std::string("targetsource\x08\x06") + std::string(46, 'a'), 1});
  ethernet.add({"short", 2});
  ethernet.add({"", 3, 80});
  ethernet.add({support::made_packet({.key = {.protocol = 6, .version = 4}}).substr(0, 30), 4, 80});
  unknown.add({support::made_packet({.key = {.protocol = 6, .version = 4}}), 4});
  PacketSums const found = sums_of(*this, {ethernet.text, unknown.text});
  EXPECT_EQ(found.totals.packets, 5U);
  EXPECT_EQ(found.totals.other, 5U);
  // A link that is not known is a flow of its own.
  ASSERT_EQ(found.flows.size(), 1U);
  EXPECT_EQ(found.flows.begin()->first, FlowKey{.source_port = 147});
  EXPECT_EQ(found.flows.begin()->second.packets, 1U);
}

TEST_P(KernelsOn, SumPacketsWithoutFlowWhereTheTableIsFull) {
  MadeCapture capture(MadeCapture::Format::pcap, false, false);
  for (unsigned k = 0; k < 300; ++k) {
    PacketPlan plan{.key = {.source_port = static_cast<std::uint16_t>(k), .protocol = 17, .version = 4}};
    for (int twice = 0; twice < 2; ++twice) capture.add({support::made_packet(plan), 1});
  }
  PacketSums const found = sums_of(*this, {capture.text}, 64);
  EXPECT_EQ(found.flows.size(), 64U);
  std::uint64_t packets = found.totals.without_flow;
  for (auto const& [key, flow] : found.flows) packets += flow.packets;
  EXPECT_EQ(packets, 600U);
  EXPECT_EQ(found.totals.bytes_without_flow, found.totals.without_flow * 60);
}

TEST_P(KernelsOn, SumPacketsOfAnyBytes) {
  std::mt19937 random(12);
  for (std::uint32_t const link : {0U, 1U, 101U, 113U, 276U}) {
    for (auto const format : {MadeCapture::Format::pcap, MadeCapture::Format::pcapng}) {
      MadeCapture capture(format, false, false, link);
      for (int k = 0; k < 400; ++k) {
        std::string bytes = support::made_packet(some_plan(random)).substr(random() % 16);
        for (int change = 0; change < 4; ++change)
          bytes[random() % std::min<std::size_t>(bytes.size(), 60)] = static_cast<char>(random());
        bytes.resize(std::min<std::size_t>(bytes.size(), random() % 200));
        capture.add({bytes, random(), 200});
      }
      PacketSums const found = sums_of(*this, {capture.text}, 8192);
      EXPECT_EQ(found.totals.packets, 400U);
      EXPECT_EQ(found.totals.ipv4 + found.totals.ipv6 + found.totals.other, 400U);
    }
  }
}

TEST_P(KernelsOn, SumNoPacketsAndRefuseTablesThatDoNotFit) {
  auto const there = memory(4096);
  auto const totals = DeviceSpan<std::byte>(there).as<PacketTotals>();
  auto const flows = DeviceSpan<std::byte>(there).as<PacketFlow>();
  sum_packets({}, totals.first(1), flows.first(16), stream());
  EXPECT_THROW(sum_packets({}, totals.first(2), flows.first(16), stream()), Error);
  EXPECT_THROW(sum_packets({}, totals.first(1), flows.first(15), stream()), Error);
}

}  // namespace
}  // namespace penstock
