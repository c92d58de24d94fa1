// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace penstock {

/// What the host has and allows, as far as it bears on feeding a device. What the system does not say is empty or 0.
struct HostLimits {
  std::string hostname;
  std::string kernel;     ///< "6.1.0-18-amd64".
  std::string cpu_model;  ///< "AMD EPYC 9654 96-Core Processor".
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_available_bytes = 0;               ///< Without swapping, as the kernel estimates it.
  std::optional<std::uint64_t> cgroup_memory_bytes;       ///< Empty: no limit.
  std::optional<std::uint64_t> cgroup_memory_left_bytes;  ///< Of that, as CgroupLimits::memory_left_bytes.
  std::optional<std::uint64_t> memlock_bytes;  ///< Empty: no limit. The CUDA driver's pinning does not count.
  std::string transparent_huge_pages;          ///< "always", "madvise" or "never".
  std::uint64_t huge_page_bytes = 0;           ///< The size of a reserved huge page.
  std::uint64_t free_huge_pages = 0;           ///< Reserved and not in use.

  /// Reads /proc and /sys under `root`; memlock is always this process's.
  ///
  /// Threads: any.
  /// Blocks:  as read_system_file, for a dozen files.
  static HostLimits read(std::filesystem::path const& root = "/");
};

}  // namespace penstock
