// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace penstock {

/// What the control groups of this process (containers, systemd units) let it have. Empty: no limit, or none known.
struct CgroupLimits {
  std::optional<double> cpus;  ///< CPUs' worth of time; 1.5 means 150 ms in each 100 ms.
  std::optional<std::uint64_t> memory_bytes;
  /// What is left of that: without what is in use, but with what the kernel takes back once it is wanted, as pages of
  /// files and what it remembers of them.
  std::optional<std::uint64_t> memory_left_bytes = {};

  /// How many threads can be busy at once on `usable_cpus`: as many, or fewer if the quota says so; at least one.
  std::size_t busy_threads(std::size_t usable_cpus) const noexcept;

  /// Reads the limits of both cgroup versions under `root`, of the process's own group and of every group above it: the
  /// smallest holds.
  ///
  /// Threads: any.
  /// Blocks:  as read_system_file, for each group.
  static CgroupLimits read(std::filesystem::path const& root = "/");
};

}  // namespace penstock
