// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "engine/core/atomics.hpp"
#include "engine/core/loan_count.hpp"
#include "engine/core/tile_queue.hpp"
#include "engine/core/waiters.hpp"
#include "penstock/clock.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// A slab of a pool, and the number of the pool's tiles that are cut from it.
struct PoolPart {
  std::span<std::byte> slab = {};
  std::size_t tiles = 0;
};

/// A fixed set of equal tiles, cut from memory that the caller owns: one slab, or several, which are its parts.
///
/// It never gets more tiles than it was made with, so its size is the pipeline's back-pressure: when every tile is on
/// loan, producers wait. The pool serves waiters in order of arrival, unless there are several parts; a newcomer gets
/// no tile while a thread waits. With a spin, one waiter watches for a tile, awake, and only the others sleep. The
/// watcher may overtake the sleepers, but after `most_overtakings` tiles in a row the first sleeper has its turn. While
/// no thread sleeps, a newcomer may get a tile before the watcher. Lending without a wait and taking back allocate
/// nothing. The slab is pinned memory in production and a plain array in tests. In each part the tiles lie as
/// TileShape::cut says. Within a part, the tile that came home first is lent first, so that neighbours that travel
/// together stay together. Tiles are numbered part by part. A borrower that prefers a part gets a tile of it, if one is
/// home; else one of the next part that has any. So no thread waits for a part.
/// Of the sleepers, the first that prefers the part of a tile gets it, unless the first of all was
/// passed over `most_passes` times: then that one has its turn.
///
/// Threads: any. Lending and taking back take no lock while no thread waits.
class Pool {
 public:
  /// The most tiles that one pool holds.
  static constexpr std::size_t max_tiles = 65'534;
  /// Every part of every tile starts at a multiple of this many bytes from the slab's start.
  static constexpr std::size_t alignment = TileShape::alignment;

  /// Maximum number of tiles in a row that a watching borrower takes before those that sleep.
  static constexpr unsigned most_overtakings = 64;
  /// Maximum number of times that the first sleeper is passed over for one that prefers the tile's part.
  static constexpr unsigned most_passes = 8;

  /// Returns `tiles`, if a pool can have that many. So a caller makes no memory for a pool that cannot be made.
  ///
  /// Throws: Error.
  static std::size_t checked_count(std::size_t tiles);
  /// Distance from the start of one tile's part of this many bytes to the start of the next one's.
  static std::size_t stride(std::size_t bytes) noexcept { return TileShape::stride(bytes); }
  /// Bytes of slab that `tiles` tiles of this shape need.
  ///
  /// Throws: Error, if that is more than a process can address.
  static std::size_t slab_bytes(TileShape const& shape, std::size_t tiles);

  /// `spin` is the time that a borrower watches before it sleeps, if no other does. A thread that brings a tile home
  /// takes 4 to 18 us to wake another. Where tiles come home by the hundred thousand, a spin makes these wakes
  /// unnecessary.
  ///
  /// Throws: Error, if there is no tile to lend, more than max_tiles, or the slab is too small; the text names the size
  /// that would do.
  Pool(std::span<std::byte> slab, TileShape shape, std::size_t tiles, std::chrono::nanoseconds spin = {});
  /// Cuts the tiles from several slabs, in the order in which tiles are numbered.
  ///
  /// The last `reserve` tiles of a pool of one part are lent only where no other tile is home, and only while the
  /// reserve is open, as it is at first. A pool of several parts has no reserve.
  ///
  /// Shape:  each has a tile at least. No slab begins where the tiles of another end: what is copied as one lies in one
  /// slab. `reserve` is below the number of tiles.
  Pool(std::span<PoolPart const> parts, TileShape shape, std::chrono::nanoseconds spin = {}, std::size_t reserve = 0);
  Pool(Pool const&) = delete;
  Pool& operator=(Pool const&) = delete;
  /// Says by a message if a tile is still on loan: its holder is about to use memory that is gone. The pool may die as
  /// soon as `on_loan` or `wait_until_home` has said that none is, whichever thread brought the last one home.
  ~Pool();

  /// Lends a free tile, of `part` if one is home there, waiting for one to come home when all are out.
  ///
  /// Shape:  `part` is below parts().
  /// Blocks: until some Loan dies; so never call it from a oneTBB task. For ever, once every tile is stranded.
  Loan borrow(std::size_t part = 0);
  /// Lends as above, but returns an empty optional once `stop` is requested.
  ///
  /// Blocks: until some Loan dies or `stop` is requested.
  std::optional<Loan> borrow(std::stop_token const& stop, std::size_t part = 0);
  /// Lends as above, but returns an empty optional after about `at_most` as well. A caller that then waits again queues
  /// behind those that wait already.
  ///
  /// Blocks: until some Loan dies, `stop` is requested or that time has passed.
  std::optional<Loan> borrow(std::stop_token const& stop, std::size_t part, std::chrono::nanoseconds at_most);
  /// Lends a tile that is home and that no thread waits for. A tile that comes home at this moment may hide others.
  ///
  /// Shape: `part` is below parts().
  std::optional<Loan> try_borrow(std::size_t part = 0) noexcept;

  std::size_t size() const noexcept { return tiles_.size(); }
  std::size_t parts() const noexcept { return 1 + more_homes_.size(); }
  /// The part that the tile at `index` was cut from.
  std::size_t part_of(std::size_t index) const { return tile(index).pool_part(); }
  /// Tiles out, and those that threads are bringing home at this moment. Exact when no other thread lends or gives
  /// back.
  std::size_t on_loan() const noexcept { return count_.out(); }
  /// True once no tile is on loan; false if one still is after about `at_most`. A stranded tile is on loan as long as
  /// its loan lives.
  ///
  /// Blocks: until then.
  bool wait_until_home(std::chrono::nanoseconds at_most) const noexcept { return count_.wait_until_none(at_most); }
  /// Opens or closes the reserve. Threads that wait are lent what an open one has; a closed one keeps what is home and
  /// what comes home, though a thread that looked before may still be lent one. Nothing happens without a reserve.
  ///
  /// Threads: one at a time.
  void open_reserve(bool open) noexcept;
  bool reserve_is_open() const noexcept { return reserve_open_.load(std::memory_order_relaxed); }
  std::size_t reserve() const noexcept { return tiles_.size() - first_of_reserve_; }
  /// Tiles that will never be lent again, since a device that was given up may still write to them.
  std::size_t stranded() const noexcept { return stranded_.load(std::memory_order_acquire); }
  /// Numbers of tiles. `lent` and `home` are together no more than all tiles, also while other threads lend and give
  /// back. A tile that is on its way home may be missing, and what a closed reserve keeps counts in neither.
  struct Counts {
    std::size_t lent = 0;
    std::size_t home = 0;
    std::size_t stranded = 0;  ///< Counts in `lent` while its loan lives.
  };
  Counts counts() const noexcept;
  /// Borrowers asleep at this moment, waiting.
  std::size_t waiting() const noexcept { return waiters_.sleepers(); }
  /// True while a borrower watches.
  bool watched() const noexcept { return waiters_.one_watches(); }
  TileShape shape() const noexcept { return shape_; }
  /// The tile at `index`, lent or not, to look at its addresses.
  Tile const& tile(std::size_t index) const { return tiles_.at(index); }

 private:
  friend class Loan;
  struct Borrower;

  void add(PoolPart const& part, std::size_t number, std::size_t first);
  TileQueue& home_of(std::size_t part) noexcept { return part == 0 ? home_ : *more_homes_[part - 1]; }
  /// Tiles that a closed reserve keeps.
  std::size_t kept() const noexcept { return reserve_ != nullptr && !reserve_is_open() ? reserve_->size() : 0; }
  bool may_be_lent(Tile const& tile) const noexcept { return tile.index() < first_of_reserve_ || reserve_is_open(); }
  TileQueue& home_of(Tile const& tile) noexcept {
    return tile.index() >= first_of_reserve_ ? *reserve_ : home_of(tile.pool_part());
  }
  Tile* pop(std::size_t part) noexcept;
  std::optional<std::uint32_t> pop_elsewhere(std::size_t part) noexcept;
  bool none_home() const noexcept;
  void take_back(Tile& tile) noexcept;
  std::optional<Loan> borrow_until(Clock::time_point end, std::stop_token const& stop, std::size_t part);
  Tile* watch(Clock::time_point end, std::stop_token const& stop, std::size_t part) noexcept;
  void serve_waiting(std::size_t at_most);
  void serve_next();
  Borrower& next_for(Tile const& tile) const noexcept;
  void unlink(Borrower& borrower) noexcept;
  void give(Tile& tile);
  Loan lend(Tile* tile) noexcept;

  TileShape shape_;
  std::vector<Tile> tiles_;
  TileQueue home_;  ///< The queue of the first part; here, because most pools have no other.
  std::vector<std::unique_ptr<TileQueue>> more_homes_;
  std::size_t first_of_reserve_;        ///< The end of the tiles outside the reserve.
  std::unique_ptr<TileQueue> reserve_;  ///< Null if there is no reserve.
  std::atomic<bool> reserve_open_{true};
  mutable LoanCount count_;
  std::atomic<std::size_t> stranded_{0};
  std::atomic<std::size_t> gone_{0};  ///< Stranded tiles whose loans have died.
  alignas(64) Waiters waiters_;
  std::chrono::nanoseconds const spin_;
  std::atomic<unsigned> overtakings_{0};  ///< Tiles left to the watcher since a sleeper was served.
  std::mutex queue_mutex_;
  Borrower* first_ = nullptr;
  Borrower* last_ = nullptr;
};

}  // namespace penstock
