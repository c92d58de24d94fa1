// SPDX-License-Identifier: Apache-2.0
#include "penstock/machine/pci_node.hpp"

#include "machine/fake_system.hpp"
#include <gtest/gtest.h>

namespace penstock {
namespace {

struct PciNode : testing::Test {
  FakeSystem system;
  std::optional<int> node_of(std::string_view bus_id) const {
    return node_of_pci_device(bus_id, system.root() / "sys");
  }
};

TEST_F(PciNode, IsWhatTheSystemSays) {
  system.write("sys/bus/pci/devices/0000:1b:00.0/numa_node", "1\n");
  EXPECT_EQ(node_of("0000:1b:00.0"), 1);
}

TEST_F(PciNode, IsFoundByEveryWayToWriteABusId) {
  system.write("sys/bus/pci/devices/0000:1b:00.0/numa_node", "0\n");
  EXPECT_EQ(node_of("0000:1B:00.0"), 0);
  EXPECT_EQ(node_of("00000000:1B:00.0"), 0);
}

TEST_F(PciNode, IsUnknownWhenTheSystemSaysMinusOne) {
  system.write("sys/bus/pci/devices/0000:1b:00.0/numa_node", "-1\n");
  EXPECT_EQ(node_of("0000:1b:00.0"), std::nullopt);
}

TEST_F(PciNode, IsUnknownForADeviceThatIsNotThere) {
  EXPECT_EQ(node_of("0000:1b:00.0"), std::nullopt);
  EXPECT_EQ(node_of(""), std::nullopt);
}

TEST_F(PciNode, IsNeverLookedForOutsideOfTheDevices) {
  system.write("sys/bus/pci/devices/0000:1b:00.0/numa_node", "1\n");
  system.write("sys/bus/pci/secret/numa_node", "1\n");
  EXPECT_EQ(node_of("../secret"), std::nullopt);
}

}  // namespace
}  // namespace penstock
