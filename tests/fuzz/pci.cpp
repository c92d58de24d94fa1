// SPDX-License-Identifier: Apache-2.0
// Whatever /sys says of a PCI device, its node is a number from 0 on, and its link one that there is or none. An input
// is three files, each ended by a 0.
#include "engine/cuda/pci.hpp"

#include "fuzz/harness.hpp"

namespace penstock::fuzz {

void try_input(std::string_view input) {
  static Folder const folder;
  for (char const* const name : {"a/numa_node", "a/current_link_speed", "a/current_link_width"})
    folder.write(name, take_until(input, '\0'));
  cuda::PciBus const bus(folder.path());
  auto const node = bus.numa_node("a");
  require(!node || *node >= 0, "a node is a number from 0 on");
  std::string const link = bus.link("a");
  require(link.empty() || (link.starts_with("PCIe ") && link.find(" x") != link.npos),
          "a link has a generation and a width");
  require(bus.nvidia_gpus() == 0, "what has no vendor is no GPU of NVIDIA's");
}

}  // namespace penstock::fuzz
