// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include <boost/lockfree/policies.hpp>
#include <boost/lockfree/spsc_queue.hpp>

namespace penstock {

/// A bounded lock-free queue from one thread to one other. It never blocks and never allocates.
///
/// Boost's spsc_queue: each of its two counts is written by one thread only and has no tag, so nothing that passes
/// while the other thread stands still can be mistaken. Boost's queues for several writers have tags of 16 bits
/// (decisions/0038), so a queue with several writers is a Mailbox.
///
/// Threads: one at a time may push; one at a time may pop, look at the front and ask `empty`.
template <class Item, std::size_t capacity>
class OneWayQueue {
 public:
  OneWayQueue() = default;
  OneWayQueue(OneWayQueue const&) = delete;
  OneWayQueue& operator=(OneWayQueue const&) = delete;

  /// False when the queue is full.
  bool push(Item const& item) noexcept { return items_.push(item); }
  /// The oldest item, if there is one.
  std::optional<Item> pop() noexcept {
    Item item{};
    if (!items_.pop(item)) return std::nullopt;
    return item;
  }
  /// What `pop` would give.
  ///
  /// Shape: not empty.
  Item const& front() const noexcept { return items_.front(); }
  // Not Boost's `empty`, which orders nothing.
  bool empty() const noexcept { return items_.read_available() == 0; }

 private:
  boost::lockfree::spsc_queue<Item, boost::lockfree::capacity<capacity>> items_;
};

}  // namespace penstock
