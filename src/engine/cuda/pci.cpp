// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/pci.hpp"

#include <charconv>
#include <fstream>
#include <memory>
#include <system_error>

#include <dirent.h>

namespace penstock::cuda {
namespace {

template <class Number>
std::optional<Number> leading_number(std::string const& text) {
  Number number{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

/// The PCIe generation that moves `transfers` GT/s on a lane; 0 if none does.
int generation(double transfers) {
  // Units: giga-transfers a second. Source: PCI Express base specifications 1.0 to 6.0.
  constexpr double speeds[] = {2.5, 5, 8, 16, 32, 64};
  for (int i = 0; i < 6; ++i) {
    if (transfers == speeds[i]) return i + 1;
  }
  return 0;
}

}  // namespace

std::string PciBus::read(std::string const& id, char const* attribute) const {
  std::ifstream file(devices_ / id / attribute);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<int> PciBus::numa_node(std::string const& id) const {
  auto const node = leading_number<int>(read(id, "numa_node"));
  // -1 means that the firmware does not say, which is normal in virtual machines.
  return node && *node >= 0 ? node : std::nullopt;
}

std::string PciBus::link(std::string const& id) const {
  auto const transfers = leading_number<double>(read(id, "current_link_speed"));
  auto const width = leading_number<int>(read(id, "current_link_width"));
  if (!transfers || !width || *width <= 0 || generation(*transfers) == 0) return {};
  return "PCIe " + std::to_string(generation(*transfers)) + " x" + std::to_string(*width);
}

int PciBus::nvidia_gpus() const {
  // std::filesystem's iterator is not used: where memory runs out it ends the process.
  struct Close {
    void operator()(DIR* folder) const { closedir(folder); }
  };
  std::unique_ptr<DIR, Close> const folder(opendir(devices_.c_str()));
  int gpus = 0;
  while (dirent const* const device = folder != nullptr ? readdir(folder.get()) : nullptr) {
    std::string const id = device->d_name;
    // Class 0x03: display controllers, among them 3D controllers without a display.
    if (read(id, "vendor") == "0x10de" && read(id, "class").starts_with("0x03")) ++gpus;
  }
  return gpus;
}

}  // namespace penstock::cuda
