// SPDX-License-Identifier: Apache-2.0
// The linker (--wrap) leads calls of Topology::detect and HostLimits::read here.
#include "simulation/machine_once.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "chaos/world.hpp"

#include "engine/machine/host_limits.hpp"
#include "engine/machine/topology.hpp"

#define TOPOLOGY_DETECT "_ZN8penstock8Topology6detectERKNSt10filesystem7__cxx114pathE"
#define HOST_LIMITS_READ "_ZN8penstock10HostLimits4readERKNSt10filesystem7__cxx114pathE"

namespace penstock::simulation {

Topology detect(std::filesystem::path const& root) asm("__real_" TOPOLOGY_DETECT);
Topology detect_once(std::filesystem::path const& root) asm("__wrap_" TOPOLOGY_DETECT);
HostLimits read(std::filesystem::path const& root) asm("__real_" HOST_LIMITS_READ);
HostLimits read_once(std::filesystem::path const& root) asm("__wrap_" HOST_LIMITS_READ);

namespace {

std::array<std::optional<Topology>, chaos::machines.size()> topologies;
std::optional<HostLimits> limits;

}  // namespace

void look_at_machines() {
  for (std::size_t i = 0; i < topologies.size(); ++i) {
    setenv("HWLOC_SYNTHETIC", chaos::machines.at(i), 1);
    topologies.at(i) = detect("/");
  }
  limits = read("/");
}

Topology detect_once(std::filesystem::path const& root) {
  char const* const machine = std::getenv("HWLOC_SYNTHETIC");
  for (std::size_t i = 0; i < topologies.size(); ++i) {
    if (machine != nullptr && topologies.at(i) && std::strcmp(machine, chaos::machines.at(i)) == 0) {
      return *topologies.at(i);
    }
  }
  return detect(root);
}

HostLimits read_once(std::filesystem::path const& root) {
  return limits ? *limits : read(root);
}

}  // namespace penstock::simulation
