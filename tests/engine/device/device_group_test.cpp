// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/device.hpp"

namespace penstock {
namespace {

using testing::ElementsAre;

/// Two devices of one kind, with one compute thread and with two.
struct AGroupOfTwo : testing::Test {
  cpu::CpuDevice first{{.ordinal = 0, .compute_threads = 1}};
  cpu::CpuDevice second{{.ordinal = 1, .compute_threads = 2}};
  DeviceGroup group{std::vector<Device*>{&first, &second}};
};

TEST_F(AGroupOfTwo, SaysWhatTheyAreTogether) {
  EXPECT_EQ(group.info().name, "2 x " + first.info().name);
  EXPECT_EQ(group.info().compute_units, 3);
  EXPECT_THAT(group.names(), ElementsAre("cpu:0", "cpu:1"));
}

TEST_F(AGroupOfTwo, TellsOfALossAndWhetherItWasTheLast) {
  EXPECT_FALSE(group.lost());
  second.abandon(Error(ErrorKind::device_lost, "The second was given up."));
  ASSERT_TRUE(group.lost());
  EXPECT_STREQ(group.lost()->what(), "The second was given up.");
  EXPECT_FALSE(group.all_lost());
  first.abandon(Error(ErrorKind::device_lost, "The first was given up."));
  EXPECT_TRUE(group.all_lost());
}

TEST_F(AGroupOfTwo, IsNoneWithoutDevices) {
  EXPECT_THROW(DeviceGroup(std::vector<Device*>{}), Error);
}

TEST_F(AGroupOfTwo, IsWhatOneDeviceSaysIfThereIsOne) {
  DeviceGroup const alone(second);
  EXPECT_EQ(alone.info().name, second.info().name);
  EXPECT_THAT(alone.names(), ElementsAre("cpu:1"));
}

}  // namespace
}  // namespace penstock
