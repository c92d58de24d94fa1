// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "penstock/clock.hpp"
#include "penstock/records/windows.hpp"

namespace penstock {

/// The open windows: places of their records, and closing.
///
/// All that closes windows moves the horizon: those that end up to it are closed. It never moves back. The object has
/// no clock, and borrows nothing.
///
/// Threads: one at a time.
class OpenWindows {
 public:
  using Time = Clock::time_point;
  /// Takes a tile that leaves; false if it could not be sent. Must not throw.
  using Send = std::function<bool(Loan)>;

  /// Shape: all options have numbers, which are consistent.
  OpenWindows(TimeWindowsOptions const& options, std::size_t tile_bytes, Send send);

  /// Places a record of an existing stream. Empty if that needs a tile and `spare` has none: call it again with one. If
  /// the record opens its window, the window's deadline counts from `now`.
  ///
  /// Throws: std::bad_alloc, if there is no memory for its notes on a window.
  std::optional<Windowed> add(std::size_t stream, std::int64_t time, std::span<std::byte const> record, Loan& spare,
                              Time now);
  /// Closes windows whose deadline has passed; returns the next deadline.
  std::optional<Time> close_overdue(Time now) noexcept;
  /// Closes all windows.
  void flush() noexcept;
  TimeWindowsCounts const& counts() const noexcept { return counts_; }

 private:
  struct Window {
    Time since;
    Loan loan;
    std::size_t filled = 0;
    WindowOfTile says;
  };
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();

  bool believes(std::int64_t time) noexcept;
  void note_time(std::size_t stream, std::int64_t time) noexcept;
  void close_up_to(std::int64_t end, WindowClosed why) noexcept;
  void leave(Window& window) noexcept;

  std::int64_t const length_, lateness_, most_ahead_;
  std::size_t const most_open_, tile_bytes_;
  Clock::duration const deadline_;
  Send const send_;
  std::vector<std::int64_t> greatest_of_;  ///< Greatest time of each stream; `never` if it has brought nothing.
  std::int64_t greatest_ = never;
  std::int64_t horizon_ = never;
  std::optional<std::int64_t> before_;      ///< The last time that was refused before any was accepted.
  std::map<std::int64_t, Window> windows_;  ///< Open windows by their beginnings.
  TimeWindowsCounts counts_;
};

}  // namespace penstock
