// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ingest/framing/record_walk.hpp"
#include "penstock/ingest/framing.hpp"

namespace penstock {

/// Cuts a stream into tiles of whole records: bytes left over at the end of a tile begin the next one.
///
/// A stream with its own tiles calls `begin` for each tile; then it appends bytes and calls `cut`, until the tile is
/// ready. Streams that share tiles call `take` each time bytes have come.
///
/// Threads: one at a time.
class StreamCutter {
 public:
  StreamCutter(FramingRef framing, LongRecords long_records)
      : first_framing_(std::move(framing)), long_records_(long_records), framing_(first_framing_) {}
  /// Makes a cutter for streams whose last record is whole only if it has its delimiter, such as one that a peer may
  /// break off.
  static StreamCutter of_peer(FramingRef framing, LongRecords long_records) {
    StreamCutter cutter(std::move(framing), long_records);
    cutter.last_needs_delimiter_ = true;
    return cutter;
  }

  /// Puts the bytes left over into the front of the next tile, and returns their number.
  ///
  /// Shape: all tiles are of one size.
  std::size_t begin(std::span<std::byte> tile);

  struct Cut {
    bool ready = false;
    std::size_t bytes =
        0;  ///< Number of bytes at the front of the tile. If it is ready, these are whole records; else more bytes are
            /// to come behind them.
  };
  /// Processes a tile that has `bytes` bytes now. It is ready if it has whole records, or if the stream has `ended`;
  /// then it may have none.
  ///
  /// Throws: as Framing::record_bytes; and Error of kind bad_argument, if a record is too long for a tile and its
  ///         framing cannot find its end. The stream cannot be read further.
  Cut cut(std::span<std::byte> tile, std::size_t bytes, bool ended);
  /// Requests the places of records, if a walk over the records finds them.
  void want_places() noexcept { wants_places_ = true; }
  /// Records of the tile that is ready.
  TileRecords take_records() { return std::exchange(records_, {}); }

  /// Number of bytes left over: the room that `take` needs in front of the next bytes.
  std::size_t held() const noexcept { return left_.size(); }
  /// True if a record fills a tile and is kept until it is known whether the stream ends behind it.
  bool needs_whole_tile() const noexcept { return !full_.empty(); }
  /// Processes `bytes` new bytes of the stream. `room` is the free part of a tile that has `tile_bytes` in all; the new
  /// bytes are in it, behind space for held() others. If ready, the result's bytes in front of `room` are whole
  /// records; all else is held.
  ///
  /// It copies held bytes only to records that are whole, or if at least as many new bytes came. A record that arrives
  /// in small parts is thus copied twice, however many parts it has.
  ///
  /// Shape:  held() + bytes are at most room.size(), and that is at most tile_bytes, the same each time; if
  ///         needs_whole_tile(), it is tile_bytes.
  /// Throws: as cut. The stream cannot be read further.
  Cut take(std::span<std::byte> room, std::size_t bytes, bool ended, std::size_t tile_bytes);
  /// Ends the stream early: a record that has begun is unfinished. `more` bytes of it are in a tile that was not ready.
  void break_off(std::size_t more = 0);

  /// Size of the memory for the bytes left over, which may exceed their number.
  std::size_t kept() const noexcept {
    return left_.capacity() + full_.capacity() + (passed_ ? passed_->capacity() : 0);
  }
  /// True if a record has begun, and its end has not come.
  bool is_within_record() const noexcept { return !left_.empty() || !full_.empty() || skips_ != Skip::nothing; }

  /// True, once the stream has ended, if there is more for a next tile, which begins with the damaged bytes.
  bool holds_rest() const noexcept { return !left_.empty(); }
  /// Size of the incomplete record with which the stream has ended.
  std::size_t unfinished_bytes() const noexcept { return unfinished_bytes_; }
  /// Offset in the stream of the tile's first byte.
  std::uint64_t offset() const noexcept { return offset_; }
  /// Losses of all streams so far.
  RecordLoss const& loss() const noexcept { return loss_; }
  /// Begins another stream; its records are behind `head` bytes.
  void restart(std::uint64_t head = 0);

 private:
  enum class Skip { nothing, bytes, to_delimiter };
  bool waits(std::span<std::byte const> bytes) const;
  std::size_t skip(std::span<std::byte> tile, std::size_t bytes);
  std::size_t drop_front(std::span<std::byte> tile, std::size_t bytes, std::size_t gone);
  void go_behind(std::span<std::byte const> record, std::size_t in_tile);
  std::size_t whole_bytes(std::span<std::byte const> bytes) const;
  Walked walk(std::span<std::byte const> bytes);
  Cut give(std::span<std::byte> tile, FramingRef behind, std::size_t whole, std::size_t bytes);
  Cut end(std::span<std::byte> tile, Walked walked, std::size_t bytes);
  std::optional<Cut> decide_full(std::span<std::byte> tile, std::size_t bytes, bool ended);
  Cut cut_long(std::span<std::byte> tile, std::size_t bytes);

  FramingRef first_framing_;
  LongRecords long_records_;
  FramingRef framing_;  ///< Framing of the next record.
  bool last_needs_delimiter_ = false;
  bool wants_places_ = false;
  TileRecords records_;
  std::size_t tile_bytes_ = 0;
  std::vector<std::byte> left_;
  std::vector<std::byte> full_;    ///< A record that fills a tile, until it is known whether the stream ends behind it.
  std::uint64_t offset_ = 0;       ///< Offset of the tile.
  std::uint64_t next_offset_ = 0;  ///< Offset of the next tile.
  std::size_t looked_at_ = 0;      ///< No record ends within this number of bytes of the tile.
  Skip skips_ = Skip::nothing;     ///< The rest of a record that was too long.
  std::uint64_t to_skip_ = 0;
  std::uint64_t uncounted_ = 0;  ///< Bytes of the record that is being skipped, if it counts only when it is cut.
  std::optional<std::vector<std::byte>> passed_;  ///< Skipped bytes of a record that is examined once it is whole.
  std::size_t unfinished_bytes_ = 0;
  RecordLoss loss_;
};

}  // namespace penstock
