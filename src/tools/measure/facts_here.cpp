// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/facts_here.hpp"

#include "penstock/devices/open_device.hpp"
#include "penstock/machine/topology.hpp"
#include "tools/command/program.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

BenchFacts facts_here(DeviceGroup const& devices, std::string const& command_line) {
  auto const topology = Topology::detect();
  return {.version = PENSTOCK_VERSION,
          .commit = commit(),
          .flavour = flavour(),
          .with_cuda = built_with_cuda(),
          .host = HostLimits::read(),
          .cpus = topology.cpus().size(),
          .nodes = topology.nodes().size(),
          .device = devices.info(),
          .devices = devices.names(),
          .date = date_now(),
          .command = command_line};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
