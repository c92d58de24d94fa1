// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "penstock/tile.hpp"

namespace penstock {

/// What a lane has taken from its inbox and not yet put on its device, by blocks: each is `block` tiles that lie side
/// by side in the pool, the last one perhaps fewer. A block that is whole travels as one copy, if its tiles are full,
/// and comes home together, so that it is whole again the next time.
///
/// Threads: the lane's. It allocates only when it is made.
class Gathering {
 public:
  /// For a pool of so many tiles; `block` is 1 or more.
  Gathering(std::size_t tiles, std::size_t block);

  void add(Loan loan) noexcept;
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  /// How many tiles the block has that was whole first; 0 if no block is whole.
  std::size_t whole() const noexcept { return whole_.empty() ? 0 : size_of(whole_.first()); }
  /// True if that block is also the one that began to gather first.
  bool whole_is_oldest() const noexcept { return !whole_.empty() && whole_.first() == begun_.first(); }
  /// Takes that block.
  ///
  /// Shape: `loans` is empty, and has room for a block.
  void take_whole(std::vector<Loan>& loans) noexcept;
  /// Takes up to `most` tiles of the block that began to gather first, in the order of the pool.
  ///
  /// Shape: `loans` has room for them.
  void take_oldest(std::size_t most, std::vector<Loan>& loans) noexcept;
  /// Takes up to `most` tiles, of one block after the other.
  ///
  /// Shape: `loans` is empty, and has room for `most`.
  void take(std::size_t most, std::vector<Loan>& loans) noexcept;

 private:
  /// Blocks in the order in which they were added, linked by their numbers.
  class Order {
   public:
    explicit Order(std::size_t blocks) : links_(blocks + 1) {}
    bool empty() const noexcept { return links_.back().next == 0; }
    std::size_t first() const noexcept { return links_.back().next - 1; }
    void add(std::size_t block) noexcept;
    void remove(std::size_t block) noexcept;

   private:
    struct Link {
      std::size_t next = 0;  ///< One more than the block's number; 0 for none.
      std::size_t previous = 0;
    };
    Link& at(std::size_t place) noexcept { return place == 0 ? links_.back() : links_[place - 1]; }
    std::vector<Link> links_;  ///< Of the blocks; behind them the link to the first and the last block.
  };
  std::size_t size_of(std::size_t block) const noexcept;

  std::size_t const block_;
  std::vector<Loan> here_;          ///< By the index of the tile.
  std::vector<std::size_t> count_;  ///< By block.
  std::size_t size_ = 0;
  Order begun_;  ///< Blocks that have any tile.
  Order whole_;  ///< Blocks that have all their tiles.
};

}  // namespace penstock
