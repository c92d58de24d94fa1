// SPDX-License-Identifier: Apache-2.0
// Records with times of their own, collected by windows of time.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "penstock/pipeline.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// The reason why a window closed.
enum class WindowClosed : std::uint32_t {
  open,       ///< It is still open: the tile was full, and another one of the window follows.
  watermark,  ///< No stream will bring any more of its records.
  deadline,   ///< TimeWindowsOptions::deadline expired, for this window or a later one.
  room,       ///< The maximum number of windows was open, and a later one was to open.
  asked,      ///< It was closed by flush, or by the end of the windows.
};
inline constexpr std::size_t window_closed_kinds = 5;

/// Content of the second input of a tile.
struct WindowOfTile {
  std::int64_t begin = 0;     ///< Times of the window's records are not before this,
  std::int64_t end = 0;       ///< and are before this.
  std::uint64_t records = 0;  ///< Number of records in this tile.
  std::uint32_t part = 0;     ///< Number of tiles of the window that left before.
  WindowClosed closed = WindowClosed::open;

  /// True for the last tile of the window; there is exactly one.
  bool last() const noexcept { return closed != WindowClosed::open; }
  friend bool operator==(WindowOfTile const&, WindowOfTile const&) = default;
};
/// The description of a tile of a window, from its second input.
///
/// Throws: Error of kind bad_argument, if it is no such tile.
WindowOfTile window_of(Tile const& tile);

/// Times are whole numbers of a unit that the user chooses, such as nanoseconds since 1970.
struct TimeWindowsOptions {
  std::int64_t length = 0;  ///< Length of a window. It must be set. Windows begin at multiples of it.
  /// Maximum lateness of a stream's records behind records of greater times. The watermark is the greatest time of the
  /// stream that is furthest behind, less this: windows that end at it or before it close.
  std::int64_t lateness = 0;
  /// Time by the host's clock after its first record at which a window closes, and those before it as well. A day is
  /// the maximum.
  std::chrono::microseconds deadline = std::chrono::seconds(1);
  /// Number of streams. A stream that has brought nothing holds the watermark back.
  std::size_t streams = 1;
  /// Maximum number of open windows; each has a tile. 0: as many as `lateness` spans, and one more.
  std::size_t most_open = 0;
  /// Maximum distance of a record's time ahead of the greatest one; a record beyond it is refused, so that a wrong time
  /// does not close all windows. The first record is refused as well, and the following ones until one is no further
  /// from the one before: a time counts once another confirms it. 0: no limit.
  std::int64_t most_ahead = 0;
  /// Gets records of windows that have closed; without a function they are dropped. Threads: the one that adds the
  /// record.
  std::function<void(std::int64_t time, std::span<std::byte const> record)> late = {};
};

/// Result of adding one record.
enum class Windowed : std::uint8_t {
  placed,      ///< It is in a tile of its window.
  late,        ///< Its window had closed, or there is no room to open it: it would be the first.
  refused,     ///< Its time is too far ahead, or the first and not confirmed: TimeWindowsOptions::most_ahead.
  wrong_size,  ///< It is empty, or larger than a tile.
};
inline constexpr std::size_t windowed_kinds = 4;

/// Counts of records by result. Each is counted once: received() is the sum.
struct TimeWindowsCounts {
  std::uint64_t placed = 0, late = 0, refused = 0, wrong_size = 0;  ///< Counts by Windowed.
  std::uint64_t unsent = 0;  ///< Records placed in tiles that the pipeline refused, since it had been drained.
  std::uint64_t tiles = 0;   ///< Number of tiles that left.
  std::array<std::uint64_t, window_closed_kinds> closed = {};  ///< Numbers of windows, by reason.

  std::uint64_t received() const noexcept { return placed + late + refused + wrong_size; }
  std::uint64_t windows_closed(WindowClosed why) const noexcept { return closed.at(static_cast<std::size_t>(why)); }
  friend bool operator==(TimeWindowsCounts const&, TimeWindowsCounts const&) = default;
};
/// Describes the counts in a sentence for a person.
std::string describe(TimeWindowsCounts const& counts);

/// Groups records into tumbling windows by their own times, and passes the windows to a pipeline.
///
/// Records of one window are consecutive in the first input of a tile, in the order in which they came. The second
/// input has a WindowOfTile, for a kernel or `window_of`. A tile that has no room for the next record leaves, and the
/// window continues in another one; its last tile is marked. Windows close in the order of their times, and all later
/// records for a closed one are late. A window without records has no tile.
///
/// The pipeline is fed by `start`, and tiles have a second input of sizeof(WindowOfTile). Call `flush` before the
/// pipeline is drained, or destroy the windows: `pipeline.drain([&] { windows.flush(); })`.
///
/// Threads: any; records are placed one at a time. Its own thread, `ps-windows`, closes windows at their deadline.
class TimeWindows {
 public:
  /// `pipeline` must outlive it.
  ///
  /// Throws: Error of kind bad_argument, if options contradict each other or the tiles; or if the pool has not one tile
  ///         more than windows may be open. Of kind system, if the system refuses a thread.
  explicit TimeWindows(Pipeline& pipeline, TimeWindowsOptions options);
  TimeWindows(TimeWindows const&) = delete;
  TimeWindows& operator=(TimeWindows const&) = delete;
  /// Calls `flush`.
  ~TimeWindows();

  /// Copies a record of that time into a tile of its window.
  ///
  /// Shape:  `stream` is below TimeWindowsOptions::streams.
  /// Blocks: while it needs a tile and all are on loan.
  /// Throws: Error, as Feed::borrow, if it needs a tile: the record is then not counted. Of kind bad_argument, for a
  ///         stream that does not exist. Exceptions of TimeWindowsOptions::late.
  Windowed add(std::size_t stream, std::int64_t time, std::span<std::byte const> record);
  /// Closes all open windows.
  ///
  /// Blocks: never.
  void flush() noexcept;
  TimeWindowsCounts counts() const;

 private:
  class Parts;
  std::unique_ptr<Parts> const parts_;
};

}  // namespace penstock
