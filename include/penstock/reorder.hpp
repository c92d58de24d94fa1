// SPDX-License-Identifier: Apache-2.0
// Records with sequence numbers, each in its row of a tile, with a mask of those that are present.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "penstock/pipeline.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// Why a tile of rows left.
enum class RowsLeft : std::uint32_t {
  complete,  ///< Each of its rows is present, or left with an earlier tile.
  passed,    ///< The stream went on by more than the window.
  waited,    ///< ReorderOptions::linger is over.
  asked,     ///< By flush, the end of the buffer, or a restart of the sender.
};
inline constexpr std::size_t rows_left_kinds = 4;

/// What the second input of a tile begins with; the mask follows. Row k is present if bit k % 64 of the mask's word
/// k / 64 is set, which is bit k % 32 of word k / 32 if it is read by 32 bits.
struct RowsOfTile {
  /// The sequence number of row 0, counted on where numbers wrap. Its low ReorderOptions::sequence_bits are the
  /// sender's number.
  std::uint64_t first = 0;
  std::uint32_t stream = 0;
  std::uint32_t rows = 0;     ///< That the mask speaks of.
  std::uint32_t present = 0;  ///< That the tile has.
  RowsLeft why = RowsLeft::complete;

  friend bool operator==(RowsOfTile const&, RowsOfTile const&) = default;
};

/// How large the second input must be for so many rows.
constexpr std::size_t present_mask_bytes(std::size_t rows) {
  return sizeof(RowsOfTile) + (rows + 63) / 64 * sizeof(std::uint64_t);
}

/// What a tile of rows says of itself.
///
/// Throws: Error of kind bad_argument, if it is no such tile.
RowsOfTile rows_of(Tile const& tile);
/// Its mask.
///
/// Throws: as rows_of.
std::span<std::uint64_t const> present_mask_of(Tile const& tile);
constexpr bool is_present(std::span<std::uint64_t const> mask, std::size_t row) {
  return (mask[row / 64] >> (row % 64) & 1U) != 0;
}

struct ReorderOptions {
  std::size_t record_bytes = 0;  ///< Of each record. It has to be said.
  std::size_t rows = 0;          ///< Of each tile. 0: as many records as its first input holds.
  unsigned sequence_bits = 32;   ///< Numbers of the sender wrap after so many bits: 1 to 64.
  std::size_t streams = 1;       ///< Each with numbers of its own.
  /// How many tiles of a stream are open at once: that with the greatest number, and those before it. What comes by up
  /// to so many tiles less one too late is still placed.
  std::size_t window_tiles = 2;
  /// How long a tile waits for its other rows from its first record on. From a day on it is a day.
  std::chrono::microseconds linger = std::chrono::milliseconds(5);
  /// A number that is further ahead of the greatest one is refused, as that of a sender which has started again. At
  /// most half of the numbers, and at most 2^61. 0: 16 windows, but at least 3000 if there are so many numbers.
  std::uint64_t most_ahead = 0;
  /// Likewise, of one that is further behind it, and with the same bounds. 0: as `most_ahead`. Not less than a window.
  std::uint64_t most_behind = 0;
  /// Rows that are absent, up to the last that is present, become 0; else they have what the tile had before.
  bool zero_absent = true;
};

/// What became of one record.
enum class Placed : std::uint8_t {
  placed,      ///< It is in its row.
  duplicate,   ///< Its row was present.
  late,        ///< The tile of its row had left; or it is a duplicate of what left before the window.
  refused,     ///< Its number is too far from the others.
  wrong_size,  ///< It has not as many bytes as records have.
};
inline constexpr std::size_t placed_kinds = 5;

/// What became of the records. Each is counted once: received() is the sum.
struct ReorderCounts {
  std::uint64_t placed = 0, duplicates = 0, late = 0, refused = 0, wrong_size = 0;  ///< As Placed.
  /// Numbers between the first and the greatest of a stream that are in no tile, once their tile has left: with those
  /// placed they are all numbers from the first on. If they come later they are late, too.
  std::uint64_t lost = 0;
  std::uint64_t restarts = 0;  ///< How often a stream began again.
  std::uint64_t unsent = 0;    ///< Placed, in tiles that the pipeline did not take: it was drained before.
  std::array<std::uint64_t, rows_left_kinds> left = {};  ///< Tiles, by reason.

  std::uint64_t received() const noexcept { return placed + duplicates + late + refused + wrong_size; }
  std::uint64_t tiles_left(RowsLeft why) const noexcept { return left.at(static_cast<std::size_t>(why)); }
  ReorderCounts& operator+=(ReorderCounts const& other) noexcept;
  friend bool operator==(ReorderCounts const&, ReorderCounts const&) = default;
};
/// As a sentence for a person.
std::string describe(ReorderCounts const& counts);

/// Puts records that come reordered, doubled or not at all into the tiles of a pipeline by their sequence numbers.
///
/// The record with number n, counted on where numbers wrap, goes straight into row n % rows of its tile. A tile leaves
/// when all of its rows are present, when its stream has gone on by more than the window, or when it has waited for
/// `linger`. Its first input has the rows, up to the last that is present; its second input a RowsOfTile and the mask,
/// for a kernel or `present_mask_of`. Its tag is the stream. A tile for which nothing came is not sent, and none waits
/// for another: they may leave in another order than that of their numbers.
///
/// A tile that has waited gives up the rows up to the greatest number of its stream: these are lost. Rows behind that
/// have yet to be sent, and if they come, go into another tile with the same `first`. So a slow sender loses nothing.
///
/// Restarts: a number that is too far from the others is refused. If the next record of the stream that comes has the
/// number after it, the sender has started again there: what is open leaves, and the stream goes on from that record.
///
/// The pipeline is fed by `start`, and tiles have a second input of present_mask_bytes(rows). Call `flush` before it is
/// drained, or let the buffer die: `pipeline.drain([&] { buffer.flush(); })`.
///
/// Threads: any. Records of one stream are placed one at a time. A thread of its own, `ps-reorder`, sends what has
///          waited.
/// Source:  the rule for restarts is that of RFC 3550 (RTP), appendix A.1.
class ReorderBuffer {
 public:
  /// `pipeline` outlives it.
  ///
  /// Throws: Error of kind bad_argument, if options contradict each other or the tiles; or if the pool has fewer tiles
  ///         than may be open: streams times window_tiles. Of kind system, if the system refuses a thread.
  explicit ReorderBuffer(Pipeline& pipeline, ReorderOptions const& options);
  ReorderBuffer(ReorderBuffer const&) = delete;
  ReorderBuffer& operator=(ReorderBuffer const&) = delete;
  /// As flush.
  ~ReorderBuffer();

  /// Copies a record into its row. Of `sequence` the low sequence_bits count.
  ///
  /// Shape:  `stream` is below ReorderOptions::streams.
  /// Blocks: while it needs a tile and all are out.
  /// Throws: Error, as Feed::borrow, if it needs a tile: the record is then not counted. Of kind bad_argument, for a
  ///         stream that there is not.
  Placed place(std::size_t stream, std::uint64_t sequence, std::span<std::byte const> record);
  /// Sends all tiles that are open. Their streams may go on.
  ///
  /// Blocks: never.
  void flush() noexcept;
  /// Of all streams, at one moment for each.
  ReorderCounts counts() const;
  /// Throws: Error of kind bad_argument, for a stream that there is not.
  ReorderCounts counts(std::size_t stream) const;
  /// Of a tile.
  std::size_t rows() const noexcept;

 private:
  class Parts;
  std::unique_ptr<Parts> const parts_;
};

}  // namespace penstock
