// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/mailbox.hpp"
#include "engine/lane/lane_options.hpp"
#include "penstock/clock.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// Tiles that a lane has taken from its inbox and not yet put on its device, by blocks. Each is `block` tiles that lie
/// side by side in the pool, the last one perhaps fewer. A whole block travels as one copy, if its tiles are full,
/// and comes home together, so that it is whole again the next time.
///
/// Invariant: a tile that was added is taken once. Each block that has a tile is in the order of those that were begun,
///            and in the order of those that are whole if all its tiles are here.
/// Threads:   the lane's. It allocates only when it is made.
class BatchBuilder {
 public:
  /// Serves a pool of `tiles` tiles; `block` is 1 or more.
  BatchBuilder(std::size_t tiles, std::size_t block);

  void add(Loan loan) noexcept;
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  /// Number of tiles of the block that was whole first; 0 if no block is whole.
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
    std::vector<Link> links_;  ///< Links of the blocks; behind them the link to the first and the last block.
  };
  std::size_t size_of(std::size_t block) const noexcept;

  std::size_t const block_;
  std::vector<Loan> here_;          ///< Loans by the index of the tile.
  std::vector<std::size_t> count_;  ///< Number of tiles here, by block.
  std::size_t size_ = 0;
  Order begun_;  ///< Blocks that have any tile.
  Order whole_;  ///< Blocks that have all their tiles.
};

/// The room on a device, and its work.
struct DeviceRoom {
  std::size_t free = 0;       ///< Slots.
  std::size_t in_flight = 0;  ///< Tiles.
  bool ending = false;        ///< No more tiles come soon, so no tile waits for its neighbours.
};

/// The way in to a lane: an inbox, and the decision which of the tiles in it go on the device next, and when.
///
/// A whole block goes as soon as there are slots for it. Parts of blocks go when the device has less than half of its
/// slots to work on, when no more tiles come, or when four whole blocks have passed the oldest. Beyond 1 MiB a batch
/// grows with the number of tiles in a row.
///
/// With LaneOptions::in_order tiles go in the order in which they came: as a batch once there are as many as a block
/// has, or when parts of blocks would go.
///
/// Invariant: a tile that was pushed is taken once. A batch has no more tiles than `batch` and than there are free
///            slots. No more than four whole blocks in a row pass the one that has waited longest.
/// Threads:   any pushes; the rest is the lane's. It allocates only when it is made.
class Intake {
 public:
  using Clock = penstock::Clock;
  /// Serves one pool, of `tiles` tiles of that shape. Of the options it uses batch and slots, and it notes times if
  /// there is a recorder.
  Intake(std::size_t tiles, TileShape shape, LaneOptions const& options);

  /// True for a tile of the pool.
  bool has_place_for(Tile const& tile) const noexcept { return tile.index() < tiles_; }
  /// Puts a tile of the pool into the inbox. False if there is no room; the loan is then still the caller's.
  ///
  /// Threads: any.
  /// Blocks:  never.
  bool push(Loan& loan) noexcept;

  /// True if a tile is in the inbox.
  bool inbox_has_any() const noexcept { return !inbox_.empty(); }
  /// Takes all tiles out of the inbox. True if there was one.
  bool gather();
  /// True if no tile is gathered.
  bool empty() const noexcept { return gathered_.empty(); }
  /// True if `take` would find a batch among what is gathered.
  bool may_go(DeviceRoom const& room) const noexcept { return may_put_parts(room) || whole_fits(room); }
  /// Takes the batch that goes on the device now: it counts as put. None if the tiles wait for their neighbours, or for
  /// slots.
  ///
  /// Shape: `batch` has room for LaneOptions::batch tiles; what it holds is dropped.
  void take(DeviceRoom const& room, std::vector<Loan>& batch) noexcept;
  /// Takes a batch of any tiles, as many as LaneOptions::batch at most, that will not go on the device.
  void take_any(std::vector<Loan>& batch) noexcept;
  /// No tile is on the device and none is gathered: the row of tiles ends here.
  void end_row() noexcept { row_ended_ = true; }

  /// Time at which each tile was pushed last, by its index; empty without a recorder.
  std::span<Clock::time_point const> pushed() const noexcept { return pushed_; }

 private:
  std::size_t most_at_once() const noexcept;
  bool whole_fits(DeviceRoom const& room) const noexcept;
  bool may_put_parts(DeviceRoom const& room) const noexcept;
  void count(std::size_t put) noexcept;

  std::size_t const tiles_;
  std::size_t const batch_;
  std::size_t const half_of_slots_;  ///< Number of tiles that are enough work for a device.
  std::size_t const small_batch_;    ///< Tiles that may go at once from the first on: as many as 1 MiB holds.
  bool const in_order_;
  Mailbox<Tile*> inbox_;
  std::vector<Clock::time_point> pushed_;  ///< Written before the push, read after the pop.

  // The lane's thread only.
  BatchBuilder gathered_;
  unsigned overtaken_ = 0;      ///< Whole blocks that passed the oldest in a row.
  std::uint64_t in_a_row_ = 0;  ///< Tiles put; halved each time there were none for a while.
  bool row_ended_ = false;      ///< The row ended since the last put.
};

}  // namespace penstock
