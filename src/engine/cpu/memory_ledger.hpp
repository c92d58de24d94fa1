// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/own_process.hpp"
#include "engine/cpu/fault_hook.hpp"
#include "penstock/device_memory.hpp"

namespace penstock::cpu {

/// Memory that a CPU device has lent: plain host memory that plays device memory, and the regions that count as pinned.
///
/// Threads: any.
class MemoryLedger {
 public:
  /// Device memory starts at a multiple of this many bytes.
  static constexpr std::size_t alignment = 256;

  /// Units: bytes. Without `memory_limit` the host's memory is the limit; without `pinned_limit` there is none.
  MemoryLedger(std::optional<std::size_t> memory_limit, std::optional<std::size_t> pinned_limit, FaultPoints faults);
  MemoryLedger(MemoryLedger const&) = delete;
  MemoryLedger& operator=(MemoryLedger const&) = delete;
  ~MemoryLedger();

  /// Does what Device::allocate promises.
  DeviceMemory allocate(std::size_t bytes);
  /// Does what Device::pin promises. Nothing is locked: no engine of a CPU device needs it.
  Pinned pin(std::span<std::byte> host);
  /// Does what Device::place promises.
  void place(std::span<std::byte const> host, int node);
  /// The node that `place` gave the pinned region in which `bytes` lies; empty if it gave none.
  std::optional<int> place_of(std::span<std::byte const> bytes) const;
  /// Throws: Error of kind bad_argument, unless `bytes` lies in one piece of memory that `allocate` gave and that is
  /// still owned.
  void expect_device_memory(std::span<std::byte const> bytes) const;
  /// True if `bytes` lies in one piece of memory that `allocate` gave and that is still owned, or is empty.
  bool owns(std::span<std::byte const> bytes) const;
  /// Throws: Error of kind bad_argument, unless one of the two is this device's, and the other is, too, or that of
  /// another CPU device.
  void expect_memory_of_devices(std::span<std::byte const> one, std::span<std::byte const> other) const;
  /// True if `bytes` lies in one region that is pinned, or is empty.
  bool is_pinned(std::span<std::byte const> bytes) const;

  /// From here on memory that its owners give back is held until `let_go`: an abandoned device may still use it.
  void hold_on();
  void let_go();

  std::size_t memory_limit() const noexcept { return memory_limit_; }
  std::size_t allocations() const;
  std::size_t allocated_bytes() const;
  std::size_t pins() const;
  std::size_t pinned_bytes() const;

 private:
  /// Regions that do not overlap: first address and size.
  using Regions = std::map<std::byte const*, std::size_t>;
  struct All;
  static All& all();
  static bool lies_in_one(Regions const& regions, std::span<std::byte const> bytes);
  class Allocation;
  class Pin;
  struct Free {
    void operator()(std::byte* start) const noexcept;
  };

  OwnProcess const process_;
  mutable std::mutex mutex_;
  std::size_t const memory_limit_;
  std::optional<std::size_t> const pinned_limit_;
  FaultPoints const faults_;
  Regions allocated_;
  Regions pinned_;
  std::map<std::byte const*, int> placed_;  ///< Nodes of pinned regions, by first address.
  std::size_t allocated_bytes_ = 0;
  std::size_t pinned_bytes_ = 0;
  bool holds_on_ = false;
  std::vector<std::unique_ptr<std::byte, Free>> held_;
};

}  // namespace penstock::cpu
