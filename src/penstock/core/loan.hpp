// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "penstock/core/tile.hpp"

namespace penstock {

/// Exclusive use of one tile. It moves with the work, and its death brings the tile home.
///
/// Threads: one at a time; it may die on any thread. It must die before its Pool does.
class Loan {
 public:
  Loan() noexcept = default;
  Loan(Loan&& other) noexcept : tile_(std::exchange(other.tile_, nullptr)) {}
  Loan& operator=(Loan&& other) noexcept {
    if (this != &other) {
      give_back();
      tile_ = std::exchange(other.tile_, nullptr);
    }
    return *this;
  }
  ~Loan() { give_back(); }

  explicit operator bool() const noexcept { return tile_ != nullptr; }
  Tile& operator*() const noexcept { return *tile_; }
  Tile* operator->() const noexcept { return tile_; }

  /// Brings the tile home now.
  void give_back() noexcept;
  /// From here on the tile never goes home: its pool counts it as stranded and lends it no more. For a tile that a
  /// device may still write to, though no thread waits for it any more.
  void strand() noexcept;

  /// Takes the tile out of this loan's care, to carry it through a queue of plain pointers; `resume` ends the passage.
  Tile* release() noexcept { return std::exchange(tile_, nullptr); }
  /// Takes up a tile that `release` let go of.
  static Loan resume(Tile* tile) noexcept { return Loan(tile); }

 private:
  friend class Pool;
  explicit Loan(Tile* tile) noexcept : tile_(tile) {}
  Tile* tile_ = nullptr;
};

}  // namespace penstock
