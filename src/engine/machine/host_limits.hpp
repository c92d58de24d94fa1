// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace penstock {

/// Limits that the control groups of this process (containers, systemd units) set. Empty: no limit, or none known.
struct CgroupLimits {
  std::optional<double> cpus;  ///< CPUs' worth of time; 1.5 means 150 ms in each 100 ms.
  std::optional<std::uint64_t> memory_bytes;
  /// The part of that which is not in use, or which the kernel takes back once it is wanted, like pages of files and
  /// what it remembers of them.
  std::optional<std::uint64_t> memory_left_bytes = {};

  /// Number of threads that can be busy at once on `usable_cpus`: as many, or fewer if the quota says so; at least one.
  std::size_t busy_threads(std::size_t usable_cpus) const noexcept;

  /// Reads the limits of both cgroup versions under `root`, of the process's own group and of every group above it: the
  /// smallest holds.
  ///
  /// Threads: any.
  /// Blocks:  as long as the kernel needs to write a few small files for each group, usually microseconds each.
  static CgroupLimits read(std::filesystem::path const& root = "/");
};

/// Host resources and limits that bear on feeding a device. Members that the system does not tell are empty or 0.
struct HostLimits {
  std::string hostname;
  std::string kernel;     ///< "6.1.0-18-amd64".
  std::string cpu_model;  ///< "AMD EPYC 9654 96-Core Processor".
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_available_bytes = 0;               ///< The kernel's estimate of what is free without swapping.
  std::optional<std::uint64_t> cgroup_memory_bytes;       ///< The limit, if any.
  std::optional<std::uint64_t> cgroup_memory_left_bytes;  ///< The value of CgroupLimits::memory_left_bytes.
  std::optional<std::uint64_t> memlock_bytes;  ///< The limit, if any. The CUDA driver's pinning does not count.
  std::string transparent_huge_pages;          ///< "always", "madvise" or "never".
  std::uint64_t huge_page_bytes = 0;           ///< The size of a reserved huge page.
  std::uint64_t free_huge_pages = 0;           ///< Reserved and not in use.

  /// Reads /proc and /sys under `root`; memlock is always this process's.
  ///
  /// Threads: any.
  /// Blocks:  as long as the kernel needs to write a dozen small files, usually microseconds each.
  static HostLimits read(std::filesystem::path const& root = "/");
};

/// CPU time of this process so far, of all its threads.
///
/// Units:   seconds.
/// Threads: any.
double cpu_seconds() noexcept;

}  // namespace penstock
