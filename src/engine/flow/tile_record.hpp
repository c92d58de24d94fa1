// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/core/atomics.hpp"
#include "penstock/clock.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// State of one tile of a run on its route, from the thread that filled it to the sink. There is one for each tile of
/// the pool, for good.
///
/// Threads: the one that it was last given to. While a lane has the tile, the record is the lane's. A cache line of its
///          own: other threads have its neighbours.
struct alignas(64) TileRecord {
  Completion completion = {};
  std::uint64_t sequence = 0;  ///< The tile's place; what a host stage does to the tile's own copy does not move it.
  /// Time at which a lane completed it, if that is recorded.
  Clock::time_point completed = {};
  TileRecord* next = nullptr;  ///< Set while it waits among Arrivals.
  std::uint64_t key = 0;       ///< Key by which it goes to a lane, if stages see tiles in order.
};

/// Tile records that travel together, a message of the graph: each is linked to the one that came before it.
struct RecordGroup {
  TileRecord* newest = nullptr;
  TileRecord* oldest = nullptr;

  void add(TileRecord& record) noexcept {
    record.next = newest;
    if (newest == nullptr) oldest = &record;
    newest = &record;
  }
};

/// The work of a node of the graph. A consumer does the work of a station; the thread that brings a record does that
/// of the lanes.
class StationWork {
 public:
  /// `follows`: this record waited already when the same consumer began its work on the one before.
  virtual void take(TileRecord& record, bool follows) noexcept = 0;

 protected:
  ~StationWork() = default;
};

/// Items that wait for one consumer, which takes all of them at once: any number of tiles that come together cost one
/// message of the graph. An item has a pointer `next` to another.
///
/// Threads: any may push; one at a time may take.
/// Blocks:  never.
template <class Item, class Atomics = StandardAtomics>
class BasicArrivals {
 public:
  /// True if none waited before: the thread that gets true must send for the consumer.
  bool push(Item& item) noexcept { return push(item, item); }
  /// Pushes several, from the newest to the oldest, each linked to the one that came before it.
  bool push(Item& newest, Item& oldest) noexcept {
    // The consumer may change `next` as soon as the items are in.
    Item* before = newest_.load(std::memory_order_relaxed);
    do {
      oldest.next = before;
      // Release: the consumer sees the items and those before them: this exchange continues their exchanges.
    } while (!newest_.compare_exchange_weak(before, &newest, std::memory_order_release, std::memory_order_relaxed));
    return before == nullptr;
  }
  /// Takes all that wait, the longest waiting first, each linked to the next; null if none waits.
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

/// Passes records on by their sequence 0, 1, 2 ..., and keeps each until all before it have come.
///
/// Threads: one at a time.
class Sequencer {
 public:
  /// The sequences of two records that are under way at once differ by less than `tiles`: each has a tile, and so has
  /// each record between them that has not been passed on.
  explicit Sequencer(std::size_t tiles) : kept_(tiles) {}

  /// Keeps the record, or passes it on together with those that waited for it: `pass_on(TileRecord&)` for each. A
  /// record with a place that was passed already is passed on at once: out of order is better than never.
  template <class PassOn>
  void take(TileRecord& record, PassOn pass_on) {
    std::uint64_t const sequence = record.sequence;
    if (sequence < next_ || sequence - next_ >= kept_.size() || place(sequence) != nullptr) return pass_on(record);
    place(sequence) = &record;
    while (TileRecord* const ready = std::exchange(place(next_), nullptr)) {
      ++next_;
      pass_on(*ready);
    }
  }

 private:
  TileRecord*& place(std::uint64_t sequence) { return kept_[sequence % kept_.size()]; }

  std::vector<TileRecord*> kept_;  ///< Records by sequence, of `next_` and those behind it.
  std::uint64_t next_ = 0;
};

}  // namespace penstock
