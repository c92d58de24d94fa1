// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "penstock/clock.hpp"
#include "penstock/records/windows.hpp"

namespace penstock {

/// The rows of one stream: the tile of each number, the open tiles, and their departure.
///
/// The object has no clock, and borrows nothing. Positions count records from row 0 of the tile in which the stream
/// began; they may be negative, since an earlier record may come later.
///
/// Threads: one at a time.
class ReorderStream {
 public:
  using Time = Clock::time_point;
  /// Takes a tile that leaves; false if it could not be sent. Must not throw.
  using Send = std::function<bool(Loan)>;

  /// Shape: all options have numbers, which are consistent.
  ReorderStream(ReorderOptions const& options, std::uint32_t number, Send send);

  /// Places a record of the right size. Empty if that needs a tile and `spare` has none: call it again with one. If it
  /// takes `spare`, the tile is open from `now` on.
  std::optional<Placed> place(std::uint64_t sequence, std::span<std::byte const> record, Loan& spare, Time now);
  void count_wrong_size() noexcept { ++counts_.wrong_size; }
  /// Sends tiles that have waited for `linger`; returns the time of the next one.
  std::optional<Time> send_waiting(Time now) noexcept;
  /// Sends all tiles.
  void flush() noexcept;
  ReorderCounts const& counts() const noexcept { return counts_; }

 private:
  /// A tile of the window. It may not be borrowed yet, or have left.
  struct Open {
    std::int64_t number = 0;          ///< Its row 0 is position number * rows.
    std::vector<std::uint64_t> seen;  ///< Rows that were placed, including those of a tile that has left.
    std::size_t given_up = 0;         ///< Absent rows before this one are lost.
    std::size_t awaited = 0;          ///< Number of rows that were neither placed nor given up.
    Loan loan;
    std::uint32_t present = 0;  ///< Number of rows in the loan.
    std::size_t filled = 0;     ///< Number of rows up to the last that is present there.
    Time since;
  };

  std::uint64_t number_of(std::int64_t position) const noexcept;
  std::optional<std::int64_t> position_of(std::uint64_t number);
  void begin_at(std::uint64_t number);
  void advance_to(std::int64_t position);
  void enter(Open& open, std::int64_t number);
  Open& open_of(std::int64_t number) noexcept;
  void give_up(Open& open, std::size_t rows) noexcept;
  void leave(Open& open, RowsLeft why) noexcept;
  std::size_t rows_so_far(Open const& open) const noexcept;
  std::span<std::uint64_t> mask_of(Open const& open) const noexcept;
  template <class Body>
  void for_each_in_order(Body body);

  std::size_t const record_bytes_, rows_, window_;
  std::uint64_t const wrap_;  ///< Mask of a number's bits.
  std::uint64_t const most_ahead_, most_behind_;
  Clock::duration const linger_;
  bool const zero_absent_;
  std::uint32_t const stream_;
  Send const send_;
  bool began_ = false;
  std::uint64_t anchor_ = 0;              ///< The number of position 0.
  std::int64_t least_ = 0;                ///< Position of the first record; earlier records lower it
  bool least_fixed_ = false;              ///< until a tile has given up rows.
  std::int64_t greatest_ = 0;             ///< Position of the record with the greatest number.
  std::int64_t last_tile_ = 0;            ///< Its tile.
  std::optional<std::uint64_t> restart_;  ///< The number with which the stream restarts, if it comes next.
  std::vector<Open> open_;                ///< Tile n has index n modulo the window.
  ReorderCounts counts_;
};

}  // namespace penstock
