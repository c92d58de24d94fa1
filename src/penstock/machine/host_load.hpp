// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "penstock/machine/cpu_set.hpp"

namespace penstock {

/// For how long CPUs were busy since it was made, with the threads of all processes.
///
/// Source:  proc_stat(5): the system counts idle time in ticks of 10 ms, mostly, so the answer is known to two of them
///          for each CPU that was idle in part.
/// Threads: any.
class HostLoad {
 public:
  /// Looks at these CPUs; under `root` is /proc.
  ///
  /// Blocks: as long as the kernel needs to write a file, some 50 us.
  explicit HostLoad(CpuSet cpus, std::filesystem::path root = "/");

  /// CPU time of all of these CPUs together; empty if the system does not say.
  ///
  /// Blocks: likewise.
  std::optional<std::chrono::nanoseconds> busy() const;
  /// By how much that may be wrong.
  static std::chrono::nanoseconds unsure() noexcept;

 private:
  std::optional<std::chrono::nanoseconds> idle() const;

  CpuSet const cpus_;
  std::filesystem::path const root_;
  std::chrono::steady_clock::time_point const since_;
  std::optional<std::chrono::nanoseconds> const idle_before_;
};

}  // namespace penstock
