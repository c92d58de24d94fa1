// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/packets/packet_sums.hpp"

namespace penstock {
namespace {

PacketFlow flow(std::uint16_t port, std::uint64_t bytes, std::uint64_t first, std::uint64_t last, std::uint32_t flags) {
  PacketFlow one{.state = 1, .flags = flags, .packets = 1, .bytes = bytes, .first = first, .last = last};
  one.key = {.source = {127, 0, 0, 1}, .target = {10, 0, 0, 2}, .source_port = port, .protocol = 6, .version = 4};
  return one;
}

TEST(PacketFlows, OfSeveralTablesAreOneOfEachKeyInTheirOrder) {
  std::vector<PacketFlow> all;
  add_flows(std::array{flow(7, 10, 50, 60, 1), PacketFlow{}, flow(3, 20, 5, 5, 2)}, all);
  add_flows(std::array{flow(5, 30, 1, 1, 4), flow(7, 40, 20, 55, 16)}, all);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].key.source_port, 3);
  EXPECT_EQ(all[1].key.source_port, 5);
  EXPECT_EQ(all[2].key.source_port, 7);
  EXPECT_EQ(describe(all[2]), "tcp 127.0.0.1:7 10.0.0.2:0 2 50 0.000000020 0.000000060 AF");
}

TEST(PacketFlows, AreDescribedWithTheirAddresses) {
  PacketFlow one{.state = 1, .packets = 2, .bytes = 3, .first = 1'627'225'020'731'640'000, .last = 2'000'000'001};
  one.key = {
      .source = {0x20, 1, 0xD, 0xB8}, .target = {}, .source_port = 1, .target_port = 2, .protocol = 99, .version = 6};
  one.key.target[15] = 1;
  EXPECT_EQ(describe(one), "99 [2001:db8::]:1 [::1]:2 2 3 1627225020.731640000 2.000000001 -");
}

}  // namespace
}  // namespace penstock
