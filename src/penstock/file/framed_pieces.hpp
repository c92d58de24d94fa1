// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>

#include "penstock/framing.hpp"

namespace penstock {

/// Cuts a file of known size into pieces of whole records, each as many as a tile takes, without looking at more than
/// their ends. For framings whose records end with a delimiter, or are all of one size.
///
/// Threads: any.
class FramedPieces {
 public:
  /// Reads from an offset of the file; fewer bytes than asked for only at its end.
  using Read = std::function<std::size_t(std::uint64_t offset, std::span<std::byte> to)>;

  /// True if files can be cut so with this framing.
  static bool suit(Framing const& framing) noexcept;

  /// Those of one size may have a piece begin with the last `overlap` bytes of the one before, a multiple of their size
  /// and at most half of a tile.
  ///
  /// Throws: Error of kind bad_argument, if a record of the framing's one size, or a delimiter, is larger than a tile,
  ///         less what overlaps.
  FramedPieces(FramingRef framing, std::size_t tile_bytes, LongRecords long_records, std::size_t overlap = 0);

  struct Piece {
    std::uint64_t offset = 0;  ///< Of its first record.
    std::size_t bytes = 0;
    std::uint64_t next = 0;  ///< Where the next piece begins; the size of the file, if there is none.
    RecordLoss loss = {};
    std::uint64_t unfinished_bytes = 0;  ///< Of a record within which the file ends: how many it has.
  };
  /// The piece that begins there, where a record does, of a file of `size` bytes. After a stop it has no bytes, and is
  /// the last.
  ///
  /// Throws: what `read` throws, and as Framing::record_bytes.
  Piece piece(Read const& read, std::uint64_t begin, std::uint64_t size, std::stop_token const& stop = {}) const;

 private:
  Piece equal_piece(std::uint64_t begin, std::uint64_t size) const;
  std::size_t whole_bytes(Read const& read, std::uint64_t begin) const;
  std::uint64_t end_of_long(Read const& read, std::uint64_t begin, std::uint64_t size,
                            std::stop_token const& stop) const;

  FramingRef const framing_;
  std::size_t const tile_bytes_;
  LongRecords const long_records_;
  std::size_t const overlap_;
};

}  // namespace penstock
