// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/pci.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace penstock::cuda {
namespace {

/// A folder that looks like /sys/bus/pci/devices, and has one GPU in it.
struct BusWithAGpu : testing::Test {
  BusWithAGpu() {
    std::string path = (std::filesystem::temp_directory_path() / "penstock_pci_XXXXXX").string();
    folder = mkdtemp(path.data());
    write(gpu, "vendor", "0x10de");
    write(gpu, "class", "0x030200");
    write(gpu, "current_link_speed", "32.0 GT/s PCIe");
    write(gpu, "current_link_width", "16");
    write(gpu, "numa_node", "1");
  }
  ~BusWithAGpu() override { std::filesystem::remove_all(folder); }

  void write(std::string const& id, char const* attribute, std::string const& text) {
    std::filesystem::create_directories(folder / id);
    std::ofstream(folder / id / attribute) << text << '\n';
  }

  std::string const gpu = "0000:1b:00.0";
  std::filesystem::path folder;
  PciBus bus() const { return PciBus(folder); }
};

TEST_F(BusWithAGpu, SaysItsNode) {
  EXPECT_EQ(bus().numa_node(gpu), 1);
}

TEST_F(BusWithAGpu, TakesNodeMinusOneForUnknown) {
  write(gpu, "numa_node", "-1");
  EXPECT_EQ(bus().numa_node(gpu), std::nullopt);
}

TEST_F(BusWithAGpu, SaysGenerationAndWidthOfTheLink) {
  EXPECT_EQ(bus().link(gpu), "PCIe 5 x16");
  write(gpu, "current_link_speed", "2.5 GT/s PCIe");
  write(gpu, "current_link_width", "8");
  EXPECT_EQ(bus().link(gpu), "PCIe 1 x8");
}

TEST_F(BusWithAGpu, SaysNothingOfALinkThatTheKernelDoesNotKnow) {
  write(gpu, "current_link_speed", "Unknown");
  EXPECT_EQ(bus().link(gpu), "");
  write(gpu, "current_link_speed", "32.0 GT/s PCIe");
  write(gpu, "current_link_width", "0");
  EXPECT_EQ(bus().link(gpu), "");
}

TEST_F(BusWithAGpu, SaysNothingOfADeviceThatIsNotThere) {
  EXPECT_EQ(bus().numa_node("0000:ff:00.0"), std::nullopt);
  EXPECT_EQ(bus().link("0000:ff:00.0"), "");
}

TEST_F(BusWithAGpu, CountsGpusAndNothingElse) {
  write("0000:1c:00.0", "vendor", "0x10de");
  write("0000:1c:00.0", "class", "0x068000");  // An NVSwitch.
  write("0000:1d:00.0", "vendor", "0x8086");
  write("0000:1d:00.0", "class", "0x030000");  // Another vendor's display.
  EXPECT_EQ(bus().nvidia_gpus(), 1);
}

TEST(NoBus, HasNothingToSay) {
  PciBus const bus("/nonexistent");
  EXPECT_EQ(bus.nvidia_gpus(), 0);
  EXPECT_EQ(bus.link("0000:1b:00.0"), "");
}

}  // namespace
}  // namespace penstock::cuda
