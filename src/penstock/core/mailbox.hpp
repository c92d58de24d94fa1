// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <boost/lockfree/queue.hpp>

#include "penstock/core/error.hpp"

namespace penstock {

/// A bounded lock-free queue with many writers and one reader; what one writer puts in comes out in its order.
///
/// Whoever must be woken by it shares an EventCount with its writers; the mailbox itself never blocks and never
/// allocates.
///
/// Shape:   Item is trivially copyable.
/// Threads: any may push; one at a time may pop.
template <class Item>
class Mailbox {
 public:
  /// The most items that one mailbox holds.
  static constexpr std::size_t max_capacity = 65'534;

  /// Throws: Error, if the capacity is 0 or beyond max_capacity.
  explicit Mailbox(std::size_t capacity) : items_(checked(capacity)) {}
  Mailbox(Mailbox const&) = delete;
  Mailbox& operator=(Mailbox const&) = delete;

  /// False when the mailbox is full.
  bool push(Item const& item) noexcept { return items_.bounded_push(item); }
  /// The oldest item, if there is one.
  std::optional<Item> pop() noexcept {
    Item item{};
    if (!items_.pop(item)) return std::nullopt;
    return item;
  }
  bool empty() const noexcept { return items_.empty(); }

 private:
  static std::size_t checked(std::size_t capacity) {
    if (capacity == 0 || capacity > max_capacity) {
      throw Error(ErrorKind::bad_argument, "A mailbox holds 1 to " + std::to_string(max_capacity) + " items, not " +
                                               std::to_string(capacity) + ".");
    }
    return capacity;
  }
  boost::lockfree::queue<Item, boost::lockfree::fixed_sized<true>> items_;
};

}  // namespace penstock
