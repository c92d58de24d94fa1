// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace penstock {

/// Some of the machine's CPUs, by the numbers that the operating system gives them.
class CpuSet {
 public:
  CpuSet() = default;
  CpuSet(std::initializer_list<int> cpus) : CpuSet(std::vector<int>(cpus)) {}
  /// Makes a set of `cpus`, in any order; duplicates count once.
  explicit CpuSet(std::vector<int> cpus);

  bool empty() const noexcept { return cpus_.empty(); }
  std::size_t size() const noexcept { return cpus_.size(); }
  bool contains(int cpu) const noexcept;
  CpuSet intersected_with(CpuSet const& other) const;
  /// Those of this set that `other` lacks.
  CpuSet without(CpuSet const& other) const;

  /// Iterates in ascending order.
  auto begin() const noexcept { return cpus_.begin(); }
  auto end() const noexcept { return cpus_.end(); }
  /// "0-3,8"; "none" if empty.
  std::string text() const;

  friend bool operator==(CpuSet const&, CpuSet const&) = default;

 private:
  std::vector<int> cpus_;
};

/// The CPUs that the calling thread may run on: what taskset, cpusets and earlier bindings left it.
///
/// Throws: Error of kind system; std::bad_alloc.
CpuSet affinity_of_this_thread();

/// Lets the calling thread run on these CPUs only. An empty set changes nothing.
///
/// Returns a sentence if it could not be done, or only for some of the CPUs; the thread then runs where it still may.
/// Throws: Error of kind system, if the system does not say where the thread may run now; std::bad_alloc.
std::optional<std::string> bind_this_thread(CpuSet const& cpus);

}  // namespace penstock
