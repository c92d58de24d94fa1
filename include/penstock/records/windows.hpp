// SPDX-License-Identifier: Apache-2.0
// Records put where their sequence number says, in rows of a tile with a mask of those that are present; and records
// collected by windows of their own times.
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

/// The reason why a tile of rows left.
enum class RowsLeft : std::uint32_t {
  complete,  ///< Each of its rows is present, or left with an earlier tile.
  passed,    ///< The stream advanced by more than the window.
  waited,    ///< ReorderOptions::linger expired.
  asked,     ///< It was sent by flush, by the end of the buffer, or by a restart of the sender.
};
inline constexpr std::size_t rows_left_kinds = 4;

/// Head of the second input of a tile; the mask follows. Row k is present if bit k % 64 of the mask's word k / 64 is
/// set, which is bit k % 32 of word k / 32 if it is read by 32 bits.
struct RowsOfTile {
  /// The sequence number of row 0, extended to 64 bits beyond wraps. Its low ReorderOptions::sequence_bits are the
  /// sender's number.
  std::uint64_t first = 0;
  std::uint32_t stream = 0;
  std::uint32_t rows = 0;     ///< Number of rows that the mask covers.
  std::uint32_t present = 0;  ///< Number of rows present in the tile.
  RowsLeft why = RowsLeft::complete;

  friend bool operator==(RowsOfTile const&, RowsOfTile const&) = default;
};

/// Minimum size of the second input for this number of rows.
constexpr std::size_t present_mask_bytes(std::size_t rows) {
  return sizeof(RowsOfTile) + (rows + 63) / 64 * sizeof(std::uint64_t);
}

/// The description of a tile of rows, from its second input.
///
/// Throws: Error of kind bad_argument, if it is no such tile.
RowsOfTile rows_of(Tile const& tile);
/// The mask of a tile of rows.
///
/// Throws: as rows_of.
std::span<std::uint64_t const> present_mask_of(Tile const& tile);
constexpr bool is_present(std::span<std::uint64_t const> mask, std::size_t row) {
  return (mask[row / 64] >> (row % 64) & 1U) != 0;
}

struct ReorderOptions {
  std::size_t record_bytes = 0;  ///< Size of each record. It must be set.
  std::size_t rows = 0;          ///< Number of rows of each tile. 0: as many records as its first input holds.
  unsigned sequence_bits = 32;   ///< Number of bits after which the sender's numbers wrap: 1 to 64.
  std::size_t streams = 1;       ///< Number of streams, each with numbers of its own.
  /// Number of open tiles of a stream: that with the greatest number, and those before it. A record that is late by up
  /// to one tile less than that is still placed.
  std::size_t window_tiles = 2;
  /// Time that a tile waits for its other rows after its first record. A day is the maximum.
  std::chrono::microseconds linger = std::chrono::milliseconds(5);
  /// Maximum distance of a number ahead of the greatest one; a record beyond it is refused, as from a sender that has
  /// restarted. At most half of the numbers, and at most 2^61. 0: 16 windows, but at least 3000 if there are so many
  /// numbers.
  std::uint64_t most_ahead = 0;
  /// Maximum distance of a number behind the greatest one, with the same effect and bounds. 0: as `most_ahead`. Not
  /// less than a window.
  std::uint64_t most_behind = 0;
  /// Zeroes absent rows, up to the last that is present; otherwise they keep the tile's earlier content.
  bool zero_absent = true;
};

/// Result of placing one record.
enum class Placed : std::uint8_t {
  placed,      ///< It is in its row.
  duplicate,   ///< Its row was already present.
  late,        ///< The tile of its row had left; or it is a duplicate from before the window.
  refused,     ///< Its number is too far from the others.
  wrong_size,  ///< Its size is not that of records.
};
inline constexpr std::size_t placed_kinds = 5;

/// Counts of records by result. Each is counted once: received() is the sum.
struct ReorderCounts {
  std::uint64_t placed = 0, duplicates = 0, late = 0, refused = 0, wrong_size = 0;  ///< Counts by Placed.
  /// Numbers between the first and the greatest of a stream that are in no tile, once their tile has left: together
  /// with those placed they are all numbers from the first on. If such a record comes later, it counts as late, too.
  std::uint64_t lost = 0;
  std::uint64_t restarts = 0;  ///< Number of restarts of streams.
  std::uint64_t unsent = 0;    ///< Records placed in tiles that the pipeline refused, since it had been drained.
  std::array<std::uint64_t, rows_left_kinds> left = {};  ///< Numbers of tiles that left, by reason.

  std::uint64_t received() const noexcept { return placed + duplicates + late + refused + wrong_size; }
  std::uint64_t tiles_left(RowsLeft why) const noexcept { return left.at(static_cast<std::size_t>(why)); }
  ReorderCounts& operator+=(ReorderCounts const& other) noexcept;
  friend bool operator==(ReorderCounts const&, ReorderCounts const&) = default;
};
/// Describes the counts in a sentence for a person.
std::string describe(ReorderCounts const& counts);

/// Puts records that arrive out of order, repeatedly or not at all into the tiles of a pipeline by their sequence
/// numbers.
///
/// The record with number n, extended beyond wraps, goes straight into row n % rows of its tile. A tile leaves when all
/// of its rows are present, when its stream has advanced by more than the window, or when it has waited for `linger`.
/// Its first input has the rows, up to the last that is present; its second input a RowsOfTile and the mask, for a
/// kernel or `present_mask_of`. Its tag is the stream. A tile without records is not sent, and no tile waits for
/// another: they may leave in another order than that of their numbers.
///
/// A tile that has waited gives up the absent rows up to the greatest number of its stream: these are lost. Rows behind
/// that are still to be sent; if they come, they go into another tile with the same `first`. A slow sender thus loses
/// nothing.
///
/// A number that is too far from the others is refused. If the next record of the stream has the number after it, the
/// sender has restarted there: open tiles leave, and the stream continues from that record.
///
/// The pipeline is fed by `start`, and tiles have a second input of present_mask_bytes(rows). Call `flush` before the
/// pipeline is drained, or destroy the buffer: `pipeline.drain([&] { buffer.flush(); })`.
///
/// Threads: any. Records of one stream are placed one at a time. Its own thread, `ps-reorder`, sends tiles that have
///          waited.
/// Source:  the rule for restarts is that of RFC 3550 (RTP), appendix A.1.
class ReorderBuffer {
 public:
  /// `pipeline` must outlive it.
  ///
  /// Throws: Error of kind bad_argument, if options contradict each other or the tiles; or if the pool has fewer tiles
  ///         than may be open: streams times window_tiles. Of kind system, if the system refuses a thread.
  explicit ReorderBuffer(Pipeline& pipeline, ReorderOptions const& options);
  ReorderBuffer(ReorderBuffer const&) = delete;
  ReorderBuffer& operator=(ReorderBuffer const&) = delete;
  /// Calls `flush`.
  ~ReorderBuffer();

  /// Copies a record into its row. Only the low sequence_bits of `sequence` are used.
  ///
  /// Shape:  `stream` is below ReorderOptions::streams.
  /// Blocks: while it needs a tile and all are on loan.
  /// Throws: Error, as Feed::borrow, if it needs a tile: the record is then not counted. Of kind bad_argument, for a
  ///         stream that does not exist.
  Placed place(std::size_t stream, std::uint64_t sequence, std::span<std::byte const> record);
  /// Sends all open tiles. Their streams may continue.
  ///
  /// Blocks: never.
  void flush() noexcept;
  /// Counts of all streams, each stream at one moment.
  ReorderCounts counts() const;
  /// Throws: Error of kind bad_argument, for a stream that does not exist.
  ReorderCounts counts(std::size_t stream) const;
  /// Number of rows of a tile.
  std::size_t rows() const noexcept;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

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
  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock
