// SPDX-License-Identifier: Apache-2.0
#include "penstock/machine/pci_node.hpp"

#include <algorithm>
#include <string>

#include "penstock/machine/system_file.hpp"

namespace penstock {

std::optional<int> node_of_pci_device(std::string_view bus_id, std::filesystem::path const& sysfs) {
  std::string name(bus_id);
  // Only what a bus id is made of: anything else could climb out of the directory.
  if (name.empty() || name.find_first_not_of("0123456789abcdefABCDEF:.") != std::string::npos) return std::nullopt;
  for (char& letter : name) {
    if (letter >= 'A' && letter <= 'F') letter = static_cast<char>(letter - 'A' + 'a');
  }
  // NVML writes eight digits of domain where sysfs has four.
  if (name.find(':') == 8 && name.starts_with("0000")) name.erase(0, 4);
  auto const text = read_system_file(sysfs / "bus/pci/devices" / name / "numa_node");
  auto const node = leading_number(text.value_or(""));
  if (!node || *node < 0) return std::nullopt;
  return static_cast<int>(*node);
}

}  // namespace penstock
