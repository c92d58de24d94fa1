// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "support/made_captures.hpp"
#include "support/made_packets.hpp"
#include <gtest/gtest.h>

#include "kernels/kernels_on_device.hpp"
#include "kernels/packets/packet_sums_on_device.hpp"

namespace penstock {
namespace {

using support::MadeCapture;
using namespace std::string_literals;

std::string packet_of(std::uint16_t port) {
  return support::made_packet({.key = {.source_port = port, .target_port = 9, .protocol = 17, .version = 4}});
}

TEST_P(KernelsOn, SumPacketsOfInterfacesThatDifferInLinkUnitAndOffset) {
  for (bool const swapped : {false, true}) {
    MadeCapture capture(MadeCapture::Format::pcapng, swapped, false, 1);
    std::string const offset = swapped ? "\0\0\0\0\0\0\0\x05"s : "\x05\0\0\0\0\0\0\0"s;
    capture.text += capture.block(1, capture.half(101) + capture.half(0) + capture.word(0) + capture.half(9) +
                                         capture.half(1) + "\x09\0\0\0"s + capture.half(14) + capture.half(8) + offset);
    auto const add = [&](std::uint32_t interface, std::uint32_t units, std::string const& bytes) {
      auto const size = static_cast<std::uint32_t>(bytes.size());
      capture.text += capture.block(6, capture.word(interface) + capture.word(0) + capture.word(units) +
                                           capture.word(size) + capture.word(size) + bytes);
    };
    for (std::uint32_t k = 0; k < 100; ++k) {
      add(0, 1000 + k, packet_of(1));
      add(1, 2000 + k, packet_of(2).substr(14));
    }
    PacketSums const found = sums_of(*this, {capture.text});
    EXPECT_EQ(found.totals.packets, 200U);
    EXPECT_EQ(found.totals.ipv4, 200U);
    ASSERT_EQ(found.flows.size(), 2U);
    for (auto const& [key, flow] : found.flows) {
      EXPECT_EQ(flow.packets, 100U);
      EXPECT_EQ(flow.first, key.source_port == 1 ? 1'000'000U : 5'000'002'000U);
      EXPECT_EQ(flow.last, key.source_port == 1 ? 1'099'000U : 5'000'002'099U);
    }
  }
}

TEST_P(KernelsOn, SumSimplePacketsUpToWhatTheirInterfaceCaptures) {
  MadeCapture capture(MadeCapture::Format::pcapng, false, false);
  capture.text = capture.text.substr(0, 28) + capture.block(1, capture.half(1) + capture.half(0) + capture.word(41));
  std::string const packet = packet_of(1);
  auto const size = static_cast<std::uint32_t>(packet.size());
  capture.text += capture.block(3, capture.word(size) + packet.substr(0, 41));
  PacketSums const found = sums_of(*this, {capture.text});
  EXPECT_EQ(found.totals.captured_bytes, 41U);
  EXPECT_EQ(found.totals.bytes, size);
}

TEST_P(KernelsOn, SumPacketsOfOlderAndOfModifiedPcap) {
  MadeCapture capture(MadeCapture::Format::pcap, false, false);
  std::string const packet = packet_of(1).substr(0, 50), head = capture.text;
  auto const size = static_cast<std::uint32_t>(packet.size());
  std::string older = head, modified = head;
  older.replace(4, 4, capture.half(2) + capture.half(2));
  older += capture.word(1) + capture.word(2) + capture.word(size + 9) + capture.word(size) + packet;
  modified.replace(0, 4, capture.word(0xA1B2CD34));
  modified +=
      capture.word(1) + capture.word(2) + capture.word(size) + capture.word(size + 9) + std::string(8, 'm') + packet;
  for (std::string const& text : {older, modified}) {
    PacketSums const found = sums_of(*this, {text});
    EXPECT_EQ(found.totals.packets, 1U);
    EXPECT_EQ(found.totals.ipv4, 1U);
    EXPECT_EQ(found.totals.captured_bytes, size);
    EXPECT_EQ(found.totals.bytes, size + 9);
  }
}

}  // namespace
}  // namespace penstock
