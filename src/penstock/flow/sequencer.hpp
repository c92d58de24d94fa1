// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "penstock/flow/tile_record.hpp"

namespace penstock {

/// Passes records on by their sequence 0, 1, 2 ..., and keeps each until all before it have come.
///
/// Threads: one at a time.
class Sequencer {
 public:
  /// The sequences of two records that are under way at once differ by less than `tiles`: each has a tile, and so has
  /// each record between them that has not been passed on.
  explicit Sequencer(std::size_t tiles) : kept_(tiles) {}

  /// Keeps the record, or passes it on together with those that waited for it: `pass_on(TileRecord&)` for each. A
  /// record with a place that was passed already goes on at once: out of order is better than never.
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

  std::vector<TileRecord*> kept_;  ///< By sequence, of `next_` and those behind it.
  std::uint64_t next_ = 0;
};

}  // namespace penstock
