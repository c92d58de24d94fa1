// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "engine/machine/host_limits.hpp"
#include "engine/machine/topology.hpp"
#include "observe/option_table.hpp"
#include "penstock/operate/operation.hpp"

namespace penstock {

ProfiledMachine machine_here(DeviceGroup const& devices) {
  DeviceInfo const info = devices.info();
  return {.cpu = HostLimits::read().cpu_model,
          .cpus = Topology::detect().cpus().size(),
          .device = info.name,
          .driver = info.driver,
          .flavour = std::string(flavour_name(devices.front().flavour()))};
}

PipelineOptions Profile::apply(PipelineOptions wanted) const {
  if (wanted.tile == TileShape{}) wanted.tile = options.tile;
  for (OptionRow const& row : option_table()) {
    if (!row.in(named_in::profiles) || row.kind == OptionKind::size) continue;
    // A value that only some stages allow was based on the promise of the measured stage.
    std::string const value = row.text(options);
    row.set(wanted, value == row.promised ? row.preset() : value);
  }
  return wanted;
}

std::string Profile::difference_to(ProfiledMachine const& here) const {
  std::string differs;
  auto const compare = [&](std::string const& then, std::string const& now, std::string const& what) {
    if (then.empty() || now.empty() || then == now) return;
    differs += (differs.empty() ? "" : ", and ") + what + then + ", not " + now;
  };
  compare(machine.device, here.device, "for the device ");
  compare(machine.cpu, here.cpu, "on a host with the CPU ");
  auto const cpus = [](ProfiledMachine const& of) { return of.cpus == 0 ? std::string() : std::to_string(of.cpus); };
  compare(cpus(machine), cpus(here), "with a number of CPUs of ");
  compare(machine.flavour, here.flavour, "for default streams that are ");
  if (differs.empty()) return differs;
  return "The profile was made " + differs + ": it is used, but tune may find better here.";
}

}  // namespace penstock
