// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/core/atomics.hpp"
#include "penstock/flow/tile_record.hpp"

namespace penstock {

/// Items that wait for one consumer, which takes all of them at once: any number of tiles that come together cost one
/// message of the graph. An item has a pointer `next` to another.
///
/// Threads: any may push; one at a time may take.
/// Blocks:  never.
template <class Item, class Atomics = StandardAtomics>
class BasicArrivals {
 public:
  /// True if none waited before: the thread that gets true must send for the consumer.
  bool push(Item& item) noexcept {
    // The consumer may change `next` as soon as the item is in.
    Item* before = newest_.load(std::memory_order_relaxed);
    do {
      item.next = before;
      // Release: the consumer sees the item and those before it: this exchange continues their exchanges.
    } while (!newest_.compare_exchange_weak(before, &item, std::memory_order_release, std::memory_order_relaxed));
    return before == nullptr;
  }
  /// All that wait, the longest waiting first, each linked to the next; null if none waits.
  Item* take() noexcept {
    Item* oldest = nullptr;
    for (Item* newest = newest_.exchange(nullptr, std::memory_order_acquire); newest != nullptr;) {
      Item* const before = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = before;
    }
    return oldest;
  }

 private:
  typename Atomics::template Atomic<Item*> newest_{nullptr};
};

/// Records that wait for one consumer of the graph.
using Arrivals = BasicArrivals<TileRecord>;

}  // namespace penstock
