// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "penstock/framing.hpp"

namespace penstock {

/// Cuts a file of known size into pieces of whole records, each by itself: the records that begin in a piece are its
/// own, wherever they end. For framings of which a beginning of a record can be found anywhere, or whose records are
/// all of one size.
///
/// Threads: any.
class FramedPieces {
 public:
  /// Reads from an offset of the file; fewer bytes than asked for only at its end.
  using Read = std::function<std::size_t(std::uint64_t offset, std::span<std::byte> to)>;

  /// What is read at most at a time to find where a record ends; most larger reads are of a piece.
  static constexpr std::size_t probe_bytes = 4096;

  /// True if files can be cut by pieces with this framing.
  static bool suit(Framing const& framing) noexcept;

  /// Records of up to `longest` bytes fit into a tile, wherever they begin. The first one begins behind `head` bytes.
  /// Those of one size may have a piece begin with the last `overlap` bytes of the one before, a multiple of their size
  /// and at most half of a tile.
  ///
  /// Throws: Error of kind bad_argument, if `longest` is more than half of a tile; or if a record of the framing's one
  ///         size is larger than a tile, less what overlaps.
  FramedPieces(FramingRef framing, std::size_t tile_bytes, std::size_t longest, LongRecords long_records,
               std::size_t overlap = 0, std::size_t head = 0);

  /// From the beginning of one piece to that of the next one.
  std::size_t step() const noexcept { return step_; }

  struct Piece {
    std::uint64_t offset = 0;  ///< Of its first record.
    std::size_t bytes = 0;
    RecordLoss loss = {};
    std::uint64_t unfinished_bytes = 0;  ///< Of a record within which the file ends: how many it has.
    /// If records are found by their beginning: where the first one begins that is not in front of the piece, and the
    /// first one that is not in front of its end. Empty if the bytes that were read do not tell.
    std::optional<std::uint64_t> first = {}, next = {};
  };
  /// Fills `tile` with the records that begin in the piece at `begin`, a multiple of `step()` behind the head, of a
  /// file of `size` bytes.
  ///
  /// Throws: what `read` throws; and as Framing::record_bytes, if records are found by their beginning.
  Piece read(Read const& read, std::uint64_t begin, std::uint64_t size, std::span<std::byte> tile) const;

 private:
  Piece read_equal(Read const& read, std::uint64_t begin, std::uint64_t end, std::span<std::byte> tile) const;
  Piece read_found(Read const& read, std::uint64_t begin, std::uint64_t size, std::span<std::byte> tile) const;
  std::optional<std::size_t> find_first(Read const& read, std::uint64_t begin, std::uint64_t size,
                                        std::span<std::byte> tile, std::size_t& bytes) const;

  FramingRef const framing_;
  std::size_t const overlap_;
  std::size_t const step_;
  LongRecords const long_records_;
  std::size_t const head_;
};

}  // namespace penstock
