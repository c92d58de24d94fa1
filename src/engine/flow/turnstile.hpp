// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/core/atomics.hpp"

namespace penstock {

/// Lets items pass one at a time, by their sequence 0, 1, 2 ..., whichever threads bring them: each waits until all
/// before it have come.
///
/// A thread that brings an item lets pass what may pass, also items of other threads. If another thread is at that, it
/// is told to look again, and the thread that brings returns at once. So no thread waits for another one.
///
/// Shape:   the sequences of items that have come or are to come, and have not passed, differ by less than `items`.
/// Threads: any.
/// Blocks:  never. It allocates only when it is made.
template <class Item, class Atomics = StandardAtomics>
class BasicTurnstile {
 public:
  explicit BasicTurnstile(std::size_t items) : items_(items), here_(std::make_unique<Atomic<Item*>[]>(items)) {
    next_.write(0);
  }
  BasicTurnstile(BasicTurnstile const&) = delete;
  BasicTurnstile& operator=(BasicTurnstile const&) = delete;

  /// Calls `pass(Item&)` for each item that may pass now, one call after the other; it must not throw. From within
  /// `pass` more may be brought.
  template <class Pass>
  void bring(Item& item, std::uint64_t sequence, Pass const& pass) {
    // Release: the thread that lets the item pass sees what was written to it.
    here_[sequence % items_].store(&item, std::memory_order_release);
    // Acquire: this thread sees what the one before it let pass. Release: that one finds the item when it looks again.
    if (looks_.fetch_add(1, std::memory_order_acq_rel) != 0) return;
    for (std::uint32_t seen = 1; seen != 0;) {
      let_pass(pass);
      // Acquire: the items of the threads that asked for another look are here. Release: the next thread continues
      // from here.
      seen = looks_.fetch_sub(seen, std::memory_order_acq_rel) - seen;
    }
  }

 private:
  template <class Value>
  using Atomic = typename Atomics::template Atomic<Value>;

  template <class Pass>
  void let_pass(Pass const& pass) {
    for (std::uint64_t next = next_.read();; ++next) {
      Atomic<Item*>& place = here_[next % items_];
      Item* const item = place.load(std::memory_order_acquire);
      if (item == nullptr) break;
      // Relaxed: the next item of this place is brought behind the passage of this one.
      place.store(nullptr, std::memory_order_relaxed);
      next_.write(next + 1);
      pass(*item);
    }
  }

  std::size_t const items_;
  std::unique_ptr<Atomic<Item*>[]> const here_;  ///< Items by sequence.
  /// Items that were brought since the thread that lets them pass counted last; 0 if there is no such thread.
  alignas(64) Atomic<std::uint32_t> looks_{0};
  typename Atomics::template Plain<std::uint64_t> next_;  ///< Used by the thread that lets items pass.
};

}  // namespace penstock
