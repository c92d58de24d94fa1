// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "penstock/error.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {

/// Throws: Error of kind bad_argument with that sentence, unless it fits.
inline void expect_option(bool fits, std::string const& otherwise) {
  if (!fits) throw Error(ErrorKind::bad_argument, otherwise);
}

/// Maximum time that a tile waits.
inline constexpr std::chrono::hours longest_wait{24};

/// Borrows tiles of a pipeline, and submits them.
///
/// Threads: any.
class FedTiles {
 public:
  explicit FedTiles(Pipeline& pipeline) noexcept : feed_(pipeline.feed()) {}

  /// Blocks and throws: as Feed::borrow.
  Loan borrow() const { return feed_.borrow(); }
  /// Returns false, with the tile back in its pool, if the pipeline accepts none since it was drained.
  bool send(Loan loan) const noexcept {
    try {
      return feed_.try_submit(loan);
    } catch (...) {
      return false;  // The pipeline has no memory for its notes on the tile, for instance.
    }
  }

 private:
  Feed const feed_;
};

}  // namespace penstock
