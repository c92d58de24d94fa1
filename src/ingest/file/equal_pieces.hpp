// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "penstock/ingest/framing.hpp"

namespace penstock {

/// Cuts a file of known size, whose records are all of one size, into pieces of whole records.
///
/// Threads: any.
class EqualPieces {
 public:
  /// True if files can be cut so with this framing.
  static bool suit(Framing const& framing) noexcept { return framing.equal_bytes() != 0; }

  /// A piece may begin with the last `overlap` bytes of the one before: a multiple of the records' size, at most half a
  /// tile.
  ///
  /// Throws: Error of kind bad_argument, if a record is larger than a tile, less what overlaps.
  EqualPieces(Framing const& framing, std::size_t tile_bytes, std::size_t overlap);

  struct Piece {
    std::size_t bytes = 0;
    std::uint64_t next = 0;              ///< Beginning of the next piece; the size of the file if there is none.
    std::uint64_t unfinished_bytes = 0;  ///< Size of the incomplete record at the end of the file.
  };
  /// The piece at `begin`, the beginning of a record.
  Piece piece(std::uint64_t begin, std::uint64_t size) const noexcept;

 private:
  std::size_t const record_, most_, overlap_;
};

}  // namespace penstock
