// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "penstock/radio.hpp"

namespace penstock {
namespace {

TEST(ModeSFrame, SaysItsAddressAndWhatItsParityHasBesideTheCrc) {
  ModeSFrame position{.bytes = {0x8D, 0x48, 0x40, 0xD6, 0x20, 0x2C, 0xC3, 0x71, 0xC3, 0x2C, 0xE0, 0x57, 0x60, 0x98},
                      .length = 14};
  EXPECT_EQ(position.format(), 17U);
  EXPECT_EQ(position.address(), 0x4840D6U);
  EXPECT_EQ(position.remainder(), 0U);
  position.bytes[13] ^= 5;
  EXPECT_EQ(position.remainder(), 5U);
  ModeSFrame const altitude{.bytes = {0x20, 0x00, 0x0F, 0x1F, 0x68, 0x4A, 0x6C}, .length = 7};
  EXPECT_EQ(altitude.format(), 4U);
  EXPECT_EQ(altitude.remainder(), 0x4D2023U);
}

}  // namespace
}  // namespace penstock
