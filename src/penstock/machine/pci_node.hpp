// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace penstock {

/// The NUMA node that a PCI device ("0000:1b:00.0", in either case; four or eight digits of domain) hangs on. Empty if
/// the system does not know, which is normal in virtual machines, or knows no such device.
std::optional<int> node_of_pci_device(std::string_view bus_id, std::filesystem::path const& sysfs = "/sys");

}  // namespace penstock
