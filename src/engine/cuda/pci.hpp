// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace penstock::cuda {

/// Reads what the kernel says of PCI devices: in /sys/bus/pci/devices, or in a folder that looks like it.
///
/// A device's id is its place on the bus as /sys has it, in lower case: "0000:1b:00.0". A virtual machine or a
/// container may say nothing; then the answers are empty.
/// Threads: any.
class PciBus {
 public:
  explicit PciBus(std::filesystem::path devices = "/sys/bus/pci/devices") : devices_(std::move(devices)) {}

  /// The host's node that the device hangs on.
  std::optional<int> numa_node(std::string const& id) const;
  /// The link as it runs now, "PCIe 5 x16". An idle GPU may have slowed it down.
  std::string link(std::string const& id) const;
  /// Number of display or compute devices of NVIDIA's, whether they have a driver or not.
  int nvidia_gpus() const;

 private:
  std::string read(std::string const& id, char const* attribute) const;

  std::filesystem::path devices_;
};

}  // namespace penstock::cuda
