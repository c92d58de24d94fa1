// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/topology.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <hwloc.h>

#include "engine/core/number_text.hpp"
#include "engine/machine/cpu_set.hpp"
#include "engine/machine/host_limits.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

CpuSet cpus_of(hwloc_const_bitmap_t bitmap) {
  std::vector<int> cpus;
  for (int cpu = hwloc_bitmap_first(bitmap); cpu >= 0; cpu = hwloc_bitmap_next(bitmap, cpu)) cpus.push_back(cpu);
  return CpuSet(std::move(cpus));
}

/// hwloc gives a node of memory only (HBM, CXL, a GPU's own) the CPUs of all it is attached to. First touch from such a
/// CPU lands elsewhere, so each CPU is left to the narrowest node that has it, and among equals to the first.
void give_each_cpu_to_one_node(std::vector<NumaNode>& nodes) {
  std::sort(nodes.begin(), nodes.end(), [](NumaNode const& a, NumaNode const& b) {
    return std::pair(a.cpus.size(), a.number) < std::pair(b.cpus.size(), b.number);
  });
  for (auto node = nodes.begin(); node != nodes.end(); ++node) {
    for (auto wider = std::next(node); wider != nodes.end(); ++wider) wider->cpus = wider->cpus.without(node->cpus);
  }
  std::sort(nodes.begin(), nodes.end(), [](NumaNode const& a, NumaNode const& b) { return a.number < b.number; });
}

}  // namespace

/// hwloc's view of a machine, from which a Topology takes what it needs.
class Topology::Loader {
 public:
  Loader() {
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) throw Error(ErrorKind::out_of_memory, "hwloc could not be started.");
    topology_.reset(topology);
  }
  hwloc_topology_t get() const noexcept { return topology_.get(); }
  bool load(unsigned long flags = 0) const noexcept {
    return hwloc_topology_set_flags(get(), flags) == 0 && hwloc_topology_load(get()) == 0;
  }

  /// Keeps only what is in `within`, if given.
  Topology read(CpuSet const* within) const {
    Topology result;
    result.cpus_ = cpus_of(hwloc_topology_get_allowed_cpuset(get()));
    if (within != nullptr) result.cpus_ = result.cpus_.intersected_with(*within);
    if (result.cpus_.empty()) throw Error(ErrorKind::bad_argument, "This topology has no CPU that may be used.");
    for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(get(), HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
      result.nodes_.push_back({.number = static_cast<int>(node->os_index),
                               .cpus = cpus_of(node->cpuset).intersected_with(result.cpus_),
                               .memory_bytes = node->attr->numanode.local_memory});
    }
    give_each_cpu_to_one_node(result.nodes_);
    return result;
  }

 private:
  struct Destroy {
    void operator()(hwloc_topology_t topology) const noexcept { hwloc_topology_destroy(topology); }
  };
  std::unique_ptr<hwloc_topology, Destroy> topology_;
};

Topology Topology::detect(std::filesystem::path const& root) {
  Loader const loader;
  // hwloc may move the calling thread from CPU to CPU to look around, unless this flag is set.
  if (!loader.load(HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING)) {
    throw Error(ErrorKind::system, std::string("hwloc cannot see this machine: ") + std::strerror(errno) + '.');
  }
  // hwloc's own environment variables can put another machine in this one's place; its CPUs are not ours to intersect.
  bool const is_this_machine = hwloc_topology_is_thissystem(loader.get()) != 0;
  CpuSet const affinity = affinity_of_this_thread();
  Topology result = loader.read(is_this_machine ? &affinity : nullptr);
  result.is_this_machine_ = is_this_machine;
  result.cpu_quota_ = CgroupLimits::read(root).cpus;
  return result;
}

Topology Topology::from_xml(std::filesystem::path const& path) {
  Loader const loader;
  if (hwloc_topology_set_xml(loader.get(), path.c_str()) != 0 || !loader.load()) {
    throw Error(ErrorKind::bad_argument, "'" + path.string() + "' is not a topology that hwloc can read (" +
                                             std::strerror(errno) + "): write one with 'lstopo machine.xml'.");
  }
  return loader.read(nullptr);
}

Topology Topology::from_synthetic(std::string const& description) {
  Loader const loader;
  if (hwloc_topology_set_synthetic(loader.get(), description.c_str()) != 0 || !loader.load()) {
    throw Error(ErrorKind::bad_argument,
                "'" + description + "' describes no machine: write it like 'numa:2 core:4 pu:1'.");
  }
  return loader.read(nullptr);
}

NumaNode const& Topology::node(int number) const {
  std::string known;
  for (auto const& node : nodes_) {
    if (node.number == number) return node;
    known += (known.empty() ? "" : ", ") + std::to_string(node.number);
  }
  throw Error(ErrorKind::bad_argument, "There is no NUMA node " + std::to_string(number) +
                                           " that this process may use; there is " + known + ".");
}

std::optional<int> Topology::node_of_cpu(int cpu) const noexcept {
  for (auto const& node : nodes_) {
    if (node.cpus.contains(cpu)) return node.number;
  }
  return std::nullopt;
}

std::size_t Topology::busy_threads() const noexcept {
  return CgroupLimits{.cpus = cpu_quota_, .memory_bytes = {}}.busy_threads(cpus_.size());
}

std::string Topology::describe() const {
  auto const count = [](std::size_t number, std::string const& noun) {
    return std::to_string(number) + ' ' + noun + (number == 1 ? "" : "s");
  };
  std::string text = count(nodes_.size(), "NUMA node") + ", " + count(cpus_.size(), "CPU");
  char const* separator = ": ";
  for (auto const& node : nodes_) {
    text += separator + ("node " + std::to_string(node.number)) + " has " +
            (node.cpus.empty() ? "no CPU" : (node.cpus.size() == 1 ? "CPU " : "CPUs ") + node.cpus.text()) + " and " +
            size_text(node.memory_bytes);
    separator = "; ";
  }
  return text;
}

}  // namespace penstock
