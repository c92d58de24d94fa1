// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <utility>

#include "penstock/pipeline.hpp"

namespace penstock {

/// The longest that a tile waits.
inline constexpr std::chrono::hours longest_wait{24};

/// The way of tiles from a pipeline and back into it.
///
/// Threads: any.
class FedTiles {
 public:
  explicit FedTiles(Pipeline& pipeline) noexcept : feed_(pipeline.feed()) {}

  /// Blocks and throws: as Feed::borrow.
  Loan borrow() const { return feed_.borrow(); }
  /// False, and the tile is home, if the pipeline takes none: it was drained.
  bool send(Loan loan) const noexcept {
    try {
      return feed_.try_submit(loan);
    } catch (...) {
      return false;  // It has no memory for what it notes of the tile, say.
    }
  }

 private:
  Feed const feed_;
};

}  // namespace penstock
