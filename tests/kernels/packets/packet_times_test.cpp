// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <gtest/gtest.h>

#include "kernels/packets/packet_parse.hpp"

namespace penstock {
namespace {

constexpr std::uint32_t of_two = 0x80;

TEST(PacketTimes, AreNanosecondsOfEachUnit) {
  EXPECT_EQ(nanoseconds_of(1'700'000'000, 0), 1'700'000'000'000'000'000U);
  EXPECT_EQ(nanoseconds_of(1'700'000'000'000'001, 6), 1'700'000'000'000'001'000U);
  EXPECT_EQ(nanoseconds_of(1'700'000'000'000'000'001, 9), 1'700'000'000'000'000'001U);
  EXPECT_EQ(nanoseconds_of(17'999'999'999'999'999'999U, 12), 17'999'999'999'999'999U);
  EXPECT_EQ(nanoseconds_of(~std::uint64_t{0}, 127), 0U);
  EXPECT_EQ(nanoseconds_of(7, of_two), 7'000'000'000U);
  EXPECT_EQ(nanoseconds_of((5U << 10U) + 512, of_two | 10U), 5'500'000'000U);
  EXPECT_EQ(nanoseconds_of((std::uint64_t{1} << 32U) + 5, of_two | 32U), 1'000'000'001U);  // 1.16 ns
  EXPECT_EQ(nanoseconds_of(std::uint64_t{3} << 62U, of_two | 63U), 1'500'000'000U);
  EXPECT_EQ(nanoseconds_of(std::uint64_t{1} << 63U, of_two | 64U), 500'000'000U);
  EXPECT_EQ(nanoseconds_of(~std::uint64_t{0}, of_two | 127U), 0U);
}

TEST(PacketTimes, ThatNanosecondsDoNotHoldAreLateAndNeverAnotherTime) {
  EXPECT_EQ(nanoseconds_of(19'880'899'200'000'001, 6), late_packet_time);
  EXPECT_EQ(nanoseconds_of(19'880'899'200, 0), late_packet_time);
  EXPECT_EQ(nanoseconds_of(std::uint64_t{19'880'899'200} << 20U, of_two | 20U), late_packet_time);
  EXPECT_EQ(nanoseconds_of(~std::uint64_t{0}, 6), late_packet_time);
  EXPECT_EQ(nanoseconds_of(~std::uint64_t{0}, 9), late_packet_time);
  EXPECT_LT(nanoseconds_of(18'446'744'072'999'999, 6), late_packet_time);
}

}  // namespace
}  // namespace penstock
