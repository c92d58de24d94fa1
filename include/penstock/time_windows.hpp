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

/// Why a window closed.
enum class WindowClosed : std::uint32_t {
  open,       ///< It has not: the tile was full, and another one of the window follows.
  watermark,  ///< No stream is to bring any of its records any more.
  deadline,   ///< TimeWindowsOptions::deadline is over, for this window or a later one.
  room,       ///< As many windows were open as may be, and a later one was to open.
  asked,      ///< By flush, or the end of the windows.
};
inline constexpr std::size_t window_closed_kinds = 5;

/// What the second input of a tile has.
struct WindowOfTile {
  std::int64_t begin = 0;     ///< Times of the window's records are from here on,
  std::int64_t end = 0;       ///< and before this.
  std::uint64_t records = 0;  ///< In this tile.
  std::uint32_t part = 0;     ///< How many tiles of the window left before.
  WindowClosed closed = WindowClosed::open;

  /// True for the last tile of the window, of which there is one.
  bool last() const noexcept { return closed != WindowClosed::open; }
  friend bool operator==(WindowOfTile const&, WindowOfTile const&) = default;
};
/// What a tile of a window says of itself.
///
/// Throws: Error of kind bad_argument, if it is no such tile.
WindowOfTile window_of(Tile const& tile);

/// Times are whole numbers of a unit that the user chooses, such as nanoseconds since 1970.
struct TimeWindowsOptions {
  std::int64_t length = 0;  ///< Of a window. It has to be said. Windows begin at multiples of it.
  /// How much later a stream's records may come than records of greater times. The watermark is the greatest time of
  /// that stream which is furthest behind, less this: windows that end at it or before it close.
  std::int64_t lateness = 0;
  /// A window closes so long after its first record came, by the host's clock, and those before it as well. From a day
  /// on it is a day.
  std::chrono::microseconds deadline = std::chrono::seconds(1);
  /// A stream that has brought nothing holds the watermark back.
  std::size_t streams = 1;
  /// So many windows are open at once; each has a tile. 0: as many as `lateness` spans, and one more.
  std::size_t most_open = 0;
  /// A record whose time is further ahead of the greatest one is refused, so that a wrong time does not close all
  /// windows. The first record is refused as well, and those behind it until one is no further from the one before: a
  /// time counts once another confirms it. 0: none is.
  std::int64_t most_ahead = 0;
  /// Is handed records of windows that have closed; without a function they are dropped. Threads: the one that adds the
  /// record.
  std::function<void(std::int64_t time, std::span<std::byte const> record)> late = {};
};

/// What became of one record.
enum class Windowed : std::uint8_t {
  placed,      ///< It is in a tile of its window.
  late,        ///< Its window had closed, or there is no room to open it: it would be the first.
  refused,     ///< Its time is too far ahead, or the first and not confirmed: TimeWindowsOptions::most_ahead.
  wrong_size,  ///< It is empty, or larger than a tile.
};
inline constexpr std::size_t windowed_kinds = 4;

/// What became of the records. Each is counted once: received() is the sum.
struct TimeWindowsCounts {
  std::uint64_t placed = 0, late = 0, refused = 0, wrong_size = 0;  ///< As Windowed.
  std::uint64_t unsent = 0;  ///< Placed, in tiles that the pipeline did not take: it was drained before.
  std::uint64_t tiles = 0;   ///< That left.
  std::array<std::uint64_t, window_closed_kinds> closed = {};  ///< Windows, by reason.

  std::uint64_t received() const noexcept { return placed + late + refused + wrong_size; }
  std::uint64_t windows_closed(WindowClosed why) const noexcept { return closed.at(static_cast<std::size_t>(why)); }
  friend bool operator==(TimeWindowsCounts const&, TimeWindowsCounts const&) = default;
};
/// As a sentence for a person.
std::string describe(TimeWindowsCounts const& counts);

/// Collects records by tumbling windows of their own times, and hands the windows to a pipeline.
///
/// Records of one window lie one behind the other in the first input of a tile, in the order in which they came. The
/// second input has a WindowOfTile, for a kernel or `window_of`. A tile to which the next record does not fit leaves,
/// and the window goes on in another one; its last tile says so. Windows close in the order of their times, and all
/// records that come later for one that has closed are late. A window without records has no tile.
///
/// The pipeline is fed by `start`, and tiles have a second input of sizeof(WindowOfTile). Call `flush` before it is
/// drained, or let the windows die: `pipeline.drain([&] { windows.flush(); })`.
///
/// Threads: any; records are placed one at a time. A thread of its own, `ps-windows`, closes windows by their deadline.
class TimeWindows {
 public:
  /// `pipeline` outlives it.
  ///
  /// Throws: Error of kind bad_argument, if options contradict each other or the tiles; or if the pool has not one tile
  ///         more than windows may be open. Of kind system, if the system refuses a thread.
  explicit TimeWindows(Pipeline& pipeline, TimeWindowsOptions options);
  TimeWindows(TimeWindows const&) = delete;
  TimeWindows& operator=(TimeWindows const&) = delete;
  /// As flush.
  ~TimeWindows();

  /// Copies a record of that time into a tile of its window.
  ///
  /// Shape:  `stream` is below TimeWindowsOptions::streams.
  /// Blocks: while it needs a tile and all are out.
  /// Throws: Error, as Feed::borrow, if it needs a tile: the record is then not counted. Of kind bad_argument, for a
  ///         stream that there is not. What TimeWindowsOptions::late throws.
  Windowed add(std::size_t stream, std::int64_t time, std::span<std::byte const> record);
  /// Closes all windows that are open.
  ///
  /// Blocks: never.
  void flush() noexcept;
  TimeWindowsCounts counts() const;

 private:
  class Parts;
  std::unique_ptr<Parts> const parts_;
};

}  // namespace penstock
