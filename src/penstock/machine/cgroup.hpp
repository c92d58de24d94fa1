// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace penstock {

/// What the control groups of this process (containers, systemd units) let it have. Empty: no limit, or none known.
struct CgroupLimits {
  std::optional<double> cpus;  ///< CPUs' worth of time; 1.5 means 150 ms in each 100 ms.
  std::optional<std::uint64_t> memory_bytes;

  /// Reads the limits of both cgroup versions under `root`, of the process's own group and of every group above it: the
  /// smallest holds.
  static CgroupLimits read(std::filesystem::path const& root = "/");
};

}  // namespace penstock
