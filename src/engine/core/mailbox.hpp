// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include <boost/lockfree/policies.hpp>
#include <boost/lockfree/spsc_queue.hpp>

#include "engine/core/atomics.hpp"
#include "penstock/error.hpp"

namespace penstock {

/// A bounded lock-free queue with many writers and one reader; the items of one writer come out in its order.
///
/// To push is to claim a place and then to write it. One word holds both the number of places claimed and the room that
/// is left. So a claim that succeeds is right whatever happened since the word was read, and however often the count
/// has wrapped around. A writer that stops between the two steps holds up no other writer, but until it continues the
/// reader does not see the items behind its place. So after each push the writer notifies the EventCount on which the
/// reader sleeps: the writer that ends the first push shows the reader all items behind it.
///
/// The mailbox itself never blocks, and allocates only when it is made.
///
/// Shape:   Item is trivially copyable; each half of Word counts to the capacity and back.
/// Threads: any may push; one at a time may pop and ask `empty`.
template <class Item, class Atomics = StandardAtomics, std::unsigned_integral Word = std::uint64_t>
class Mailbox {
  static_assert(std::is_trivially_copyable_v<Item>);
  static constexpr int half = std::numeric_limits<Word>::digits / 2;

 public:
  /// The maximum capacity of a mailbox: a pool has no more tiles. It is at most half of what a half of Word counts, so
  /// that the laps round the places are even and odd alternately also where the count wraps around.
  static constexpr std::size_t max_capacity = std::min<std::size_t>(65'534, std::size_t{1} << (half - 1));

  /// Throws: Error, if the capacity is 0 or beyond max_capacity.
  explicit Mailbox(std::size_t capacity)
      : places_(std::bit_ceil(checked(capacity))),
        cells_(std::make_unique<Cell[]>(places_)),
        claims_(static_cast<Word>(capacity)) {}
  Mailbox(Mailbox const&) = delete;
  Mailbox& operator=(Mailbox const&) = delete;

  /// Returns false when the mailbox is full.
  bool push(Item const& item) noexcept {
    Word seen = claims_.load(std::memory_order_relaxed);
    do {
      if ((seen & room_mask) == 0) return false;
      // Acquire: the reader has read the item that was in the place before.
    } while (!claims_.compare_exchange_weak(seen, static_cast<Word>(seen + one_claim - one_room),
                                            std::memory_order_acquire, std::memory_order_relaxed));
    std::size_t const place = seen >> half;
    Cell& cell = cells_[place & (places_ - 1)];
    cell.item.write(item);
    // Release: the reader that sees the mark sees the item.
    cell.odd_lap.store(is_odd_lap(place), std::memory_order_release);
    return true;
  }
  /// Takes the oldest item, if there is one and its push is over.
  std::optional<Item> pop() noexcept {
    if (empty()) return std::nullopt;
    Item const item = cells_[next_ & (places_ - 1)].item.read();
    ++next_;
    // Release: the writer that gets this room may write over the item.
    claims_.fetch_add(one_room, std::memory_order_release);
    return item;
  }
  /// True if `pop` gives nothing now.
  bool empty() const noexcept {
    return cells_[next_ & (places_ - 1)].odd_lap.load(std::memory_order_acquire) != is_odd_lap(next_);
  }

 private:
  struct Cell {
    typename Atomics::template Plain<Item> item;
    typename Atomics::template Atomic<bool> odd_lap{false};  ///< True if the item is of an odd lap; the first is odd.
  };
  static constexpr Word one_room = 1;
  static constexpr Word one_claim = static_cast<Word>(Word{1} << half);
  static constexpr Word room_mask = static_cast<Word>(one_claim - 1);

  static std::size_t checked(std::size_t capacity) {
    if (capacity == 0 || capacity > max_capacity) {
      throw Error(ErrorKind::bad_argument, "A mailbox holds 1 to " + std::to_string(max_capacity) + " items, not " +
                                               std::to_string(capacity) + ".");
    }
    return capacity;
  }
  bool is_odd_lap(std::size_t place) const noexcept { return (place & places_) == 0; }

  std::size_t const places_;  ///< A power of two: its bit of a place tells odd laps from even ones.
  std::unique_ptr<Cell[]> const cells_;
  /// The places claimed so far, in the upper half; the room that is left, in the lower. It has its own cache line.
  alignas(64) typename Atomics::template Atomic<Word> claims_;
  alignas(64) std::size_t next_ = 0;  ///< The place to be read; the reader's.
};

/// A bounded lock-free queue from one thread to one other. It never blocks and never allocates.
///
/// Boost's spsc_queue: each of its two counts is written by one thread only and has no tag, so nothing that passes
/// while the other thread stands still can be mistaken. Boost's queues for several writers have tags of 16 bits
/// (docs/decisions/pool.md), so a queue with several writers is a Mailbox.
///
/// Threads: one at a time may push; one at a time may pop, look at the front and ask `empty`.
template <class Item, std::size_t capacity>
class OneWayQueue {
 public:
  OneWayQueue() = default;
  OneWayQueue(OneWayQueue const&) = delete;
  OneWayQueue& operator=(OneWayQueue const&) = delete;

  /// Returns false when the queue is full.
  bool push(Item const& item) noexcept { return items_.push(item); }
  /// Takes the oldest item, if there is one.
  std::optional<Item> pop() noexcept {
    Item item{};
    if (!items_.pop(item)) return std::nullopt;
    return item;
  }
  /// The item that `pop` would give.
  ///
  /// Shape: not empty.
  Item const& front() const noexcept { return items_.front(); }
  // Boost's `empty` orders nothing, so this is another one.
  bool empty() const noexcept { return items_.read_available() == 0; }

 private:
  boost::lockfree::spsc_queue<Item, boost::lockfree::capacity<capacity>> items_;
};

}  // namespace penstock
