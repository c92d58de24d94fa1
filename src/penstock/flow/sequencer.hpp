// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "penstock/flow/journey.hpp"

namespace penstock {

/// Passes journeys on by their sequence 0, 1, 2 ..., and keeps each until all before it have come.
///
/// Threads: one at a time.
class Sequencer {
 public:
  using Next = std::function<void(Journey&)>;

  /// The sequences of two journeys that are under way at once differ by less than `tiles`: each has a tile, and so has
  /// each journey between them that has not been passed on.
  Sequencer(std::size_t tiles, Next next) : kept_(tiles), pass_on_(std::move(next)) {}

  /// Keeps the journey, or passes it on together with those that waited for it. A journey with a place that was passed
  /// already goes on at once: out of order is better than never.
  void take(Journey& journey) {
    std::uint64_t const sequence = journey.sequence;
    if (sequence < next_ || sequence - next_ >= kept_.size() || place(sequence) != nullptr) return pass_on_(journey);
    place(sequence) = &journey;
    while (Journey* const ready = std::exchange(place(next_), nullptr)) {
      ++next_;
      pass_on_(*ready);
    }
  }

 private:
  Journey*& place(std::uint64_t sequence) { return kept_[sequence % kept_.size()]; }

  std::vector<Journey*> kept_;  ///< By sequence, of `next_` and those behind it.
  std::uint64_t next_ = 0;
  Next const pass_on_;
};

}  // namespace penstock
