// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <utility>

#include "penstock/flow/journey.hpp"

namespace penstock {

/// Journeys that wait for one consumer, who takes all of them at once: so many tiles that come together cost one
/// message of the graph.
///
/// Threads: any may push; one at a time may take.
/// Blocks:  never.
class Arrivals {
 public:
  /// True if nobody waited before: whoever hears that has to send for the consumer.
  bool push(Journey& journey) noexcept {
    // Whoever takes may change `next` as soon as it is in.
    Journey* before = newest_.load(std::memory_order_relaxed);
    do {
      journey.next = before;
    } while (!newest_.compare_exchange_weak(before, &journey, std::memory_order_acq_rel));
    return before == nullptr;
  }
  /// All that wait, the longest waiting first, each linked to the next; null if none does.
  Journey* take() noexcept {
    Journey* oldest = nullptr;
    for (Journey* newest = newest_.exchange(nullptr, std::memory_order_acquire); newest != nullptr;) {
      Journey* const before = std::exchange(newest->next, oldest);
      oldest = std::exchange(newest, before);
    }
    return oldest;
  }

 private:
  std::atomic<Journey*> newest_{nullptr};
};

}  // namespace penstock
