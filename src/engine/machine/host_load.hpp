// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "engine/machine/cpu_set.hpp"

namespace penstock {

/// Measures how long CPUs have had nothing to do since it was made, for any process.
///
/// Source:  proc_stat(5): the system counts idle time in ticks, mostly of 10 ms.
/// Threads: any.
class HostLoad {
 public:
  /// Looks at these CPUs; under `root` is /proc.
  ///
  /// Blocks: as long as the kernel needs to write a file, some 50 us.
  explicit HostLoad(CpuSet cpus, std::filesystem::path root = "/");

  /// Idle time of all of these CPUs together; empty if the system does not say.
  ///
  /// Blocks: as long as the constructor.
  std::optional<std::chrono::nanoseconds> idle() const;
  std::chrono::nanoseconds elapsed() const noexcept { return std::chrono::steady_clock::now() - since_; }
  /// CPU time that other processes used of the `allowed` CPUs since it was made: what was neither `own` nor idle. 0 if
  /// it is not known, or less than ticks can tell.
  ///
  /// Blocks: as long as the constructor.
  std::chrono::nanoseconds of_others(unsigned allowed, std::chrono::nanoseconds own) const;
  /// The CPU time by which `of_others` may be too low, since the system counts in ticks.
  static std::chrono::nanoseconds unsure() noexcept;

 private:
  std::optional<std::chrono::nanoseconds> idle_so_far() const;

  CpuSet const cpus_;
  std::filesystem::path const root_;
  std::chrono::steady_clock::time_point const since_;
  std::optional<std::chrono::nanoseconds> const idle_before_;
};

}  // namespace penstock
