// SPDX-License-Identifier: Apache-2.0
#include "penstock/profile.hpp"

#include <utility>

namespace penstock {

PipelineOptions Profile::apply(PipelineOptions wanted) const {
  if (wanted.tile == TileShape{}) wanted.tile = options.tile;
  wanted.tiles = options.tiles;
  wanted.producers = options.producers;
  wanted.lanes = options.lanes;
  wanted.consumers = options.consumers;
  wanted.slots = options.slots;
  wanted.batch = options.batch;
  wanted.aim = options.aim;
  wanted.spin = options.spin;
  wanted.shape = options.shape;
  wanted.signal = options.signal;
  // That the stage allows tiles that are mapped was a promise of the one that was measured.
  wanted.transport = options.transport == Transport::mapped ? Transport::automatic : options.transport;
  wanted.graphs = options.graphs;
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
  return "The profile was made " + differs + ": it is used, but penstock tune may find better here.";
}

}  // namespace penstock
