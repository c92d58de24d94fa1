// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/machine/cpu_set.hpp"

namespace penstock {

/// One NUMA node: memory, and the CPUs next to it.
struct NumaNode {
  int number = 0;  ///< The operating system's number.
  CpuSet cpus;     ///< CPUs of it that this process may use; none on a node that is only memory.
  std::uint64_t memory_bytes = 0;
};

/// The CPUs and NUMA nodes that this process may use, as they were when it was made.
///
/// Threads: any; it never changes.
class Topology {
 public:
  /// This machine, cut down to what cpusets and the calling thread's affinity (taskset) allow.
  ///
  /// `root` stands before /proc and /sys where the cgroup's quota is read.
  ///
  /// Blocks: for some milliseconds. The calling thread stays on its CPUs.
  /// Throws: Error of kind system.
  static Topology detect(std::filesystem::path const& root = "/");
  /// A machine that `lstopo machine.xml` wrote down, to see how a pipeline would be placed there.
  ///
  /// Throws: Error of kind bad_argument.
  static Topology from_xml(std::filesystem::path const& path);
  /// A made-up machine: "numa:2 core:4 pu:1" has two nodes of four cores each.
  ///
  /// Throws: Error of kind bad_argument.
  static Topology from_synthetic(std::string const& description);

  /// The nodes in ascending order of their numbers; at least one, also where the system knows nothing of NUMA.
  std::vector<NumaNode> const& nodes() const noexcept { return nodes_; }
  /// The node with this number.
  ///
  /// Throws: Error of kind bad_argument, naming the nodes that there are.
  NumaNode const& node(int number) const;
  /// The CPUs that this process may use; never empty.
  CpuSet const& cpus() const noexcept { return cpus_; }
  /// The node whose memory this CPU touches first; empty if the CPU or the node may not be used.
  std::optional<int> node_of_cpu(int cpu) const noexcept;

  /// CPUs' worth of time that the cgroup allows; empty if it allows all, or if this is another machine.
  std::optional<double> cpu_quota() const noexcept { return cpu_quota_; }
  /// Number of threads that can be busy at once: the CPUs, or fewer if the quota says so; at least one.
  std::size_t busy_threads() const noexcept;
  /// True if this was detected, so that its CPUs can be bound to.
  bool is_this_machine() const noexcept { return is_this_machine_; }

  /// "2 NUMA nodes, 8 CPUs: node 0 has CPUs 0-3 and 64 GiB; node 1 ..."
  std::string describe() const;

 private:
  class Loader;

  std::vector<NumaNode> nodes_;
  CpuSet cpus_;
  std::optional<double> cpu_quota_;
  bool is_this_machine_ = false;
};

}  // namespace penstock
