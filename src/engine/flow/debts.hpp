// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/core/atomics.hpp"

namespace penstock {

/// The records that a graph owes: all that ever came, less all that are settled. It owes something as long as more may
/// come, too.
///
/// Each number has a cache line of its own, and a thread that settles does not read what is owed before the input has
/// ended: some threads owe while others settle (docs/decisions/threads.md).
///
/// Threads: any. A thread that settles a record has seen that it was owed.
template <class Atomics = StandardAtomics>
class BasicDebts {
 public:
  /// More records come until `end_input`, once for each call.
  void open_input() noexcept { open_inputs_.fetch_add(1, std::memory_order_seq_cst); }
  /// No record is owed from now on that was not owed before. True if nothing is owed any more.
  bool end_input() noexcept {
    // All seq_cst, as in `settle`: a thread that settles and still sees the input open has counted before `none` looks
    // here. So one of all these threads sees that nothing is owed.
    open_inputs_.fetch_sub(1, std::memory_order_seq_cst);
    return none();
  }
  /// Number of records owed at this moment; too high, if some are settled meanwhile.
  std::uint64_t owed() const noexcept {
    std::uint64_t const settled = settled_.load(std::memory_order_acquire);
    return owed_.load(std::memory_order_relaxed) - settled;
  }
  /// Number of records that ever came. Relaxed: a record is handed on behind its count, so a thread that sees a later
  /// count of the record sees this one.
  std::uint64_t came() const noexcept { return owed_.load(std::memory_order_relaxed); }
  void owe() noexcept { owed_.fetch_add(1, std::memory_order_relaxed); }
  /// True if nothing is owed any more.
  bool settle() noexcept {
    settled_.fetch_add(1, std::memory_order_seq_cst);
    return none();
  }
  bool none() const noexcept {
    if (open_inputs_.load(std::memory_order_seq_cst) != 0) return false;
    // Relaxed: what is owed no longer changes, once the input is seen to have ended.
    return owed_.load(std::memory_order_relaxed) == settled_.load(std::memory_order_seq_cst);
  }

 private:
  template <class Value>
  using Atomic = typename Atomics::template Atomic<Value>;

  alignas(64) Atomic<std::uint64_t> owed_{0};
  alignas(64) Atomic<std::uint64_t> settled_{0};
  Atomic<std::uint32_t> open_inputs_{0};
};

using Debts = BasicDebts<>;

}  // namespace penstock
