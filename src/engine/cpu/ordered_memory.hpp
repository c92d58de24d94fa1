// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <span>

#include "engine/cpu/memory_ledger.hpp"
#include "engine/cpu/scheduler.hpp"
#include "penstock/device_memory.hpp"

namespace penstock::cpu {

/// Memory that streams of a CPU device allocate and free in their order (StreamRef::allocate).
///
/// A stream may allocate again at once what it has freed: it finishes the old use before it reaches the new one. All
/// others get it once the stream has passed the place where it was freed; until then it counts as allocated.
///
/// Threads: any.
class OrderedMemory {
 public:
  OrderedMemory(Scheduler& scheduler, MemoryLedger& ledger) noexcept : scheduler_(scheduler), ledger_(ledger) {}
  OrderedMemory(OrderedMemory const&) = delete;
  OrderedMemory& operator=(OrderedMemory const&) = delete;

  /// Does what StreamRef::allocate promises. Like the next, it makes new memory of a model present, without a lock.
  DeviceMemory allocate(StreamState const& stream, std::size_t bytes);
  /// Does what Device::allocate promises, with memory that no stream keeps.
  DeviceMemory allocate(std::size_t bytes);
  /// Gives back what streams have freed and passed.
  void reclaim() noexcept;
  /// Gives back all that the stream has freed. It has passed everything, and dies.
  void forget(StreamState const& stream) noexcept;

  struct Owned {
    std::size_t allocations = 0;
    std::size_t bytes = 0;
  };
  /// Entries of the ledger, except what was freed and is not given back.
  Owned owned() const;

 private:
  struct Block {
    DeviceMemory memory;
    StreamState const* stream = nullptr;
    std::uint64_t place = 0;  ///< Number of operations that were in the stream when it was freed.
  };
  using Blocks = std::list<Block>;
  class Lent;

  /// `fresh` becomes true if no stream had it before.
  DeviceMemory allocate_in_order(StreamState const& stream, std::size_t bytes, bool& fresh);
  void make_present(std::span<std::byte> memory) noexcept;

  static constexpr std::size_t any_size = SIZE_MAX;
  Blocks::iterator best(StreamState const& stream, std::size_t bytes, std::size_t most);
  DeviceMemory lend(Blocks& from, Blocks::iterator block, std::size_t bytes);
  void take_back(Blocks::iterator block) noexcept;
  void reclaim_locked() noexcept;
  DeviceMemory of_ledger(std::size_t bytes);

  Scheduler& scheduler_;
  MemoryLedger& ledger_;
  std::mutex mutable mutex_;  ///< Taken before those of the scheduler and the ledger.
  Blocks lent_;
  Blocks freed_;
};

}  // namespace penstock::cpu
