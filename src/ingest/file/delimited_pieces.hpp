// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "penstock/ingest/framing.hpp"

namespace penstock {

/// Cuts a file of known size, whose records end with a delimiter, into consecutive pieces: each begins with a record
/// and has as many whole ones as fit into a tile. Each record that fits into a tile is thus whole in one, as with a
/// stream.
///
/// It reads only the bytes in front of the end of each tile, usually a kibibyte, and more only if records are longer.
///
/// Threads: any.
class DelimitedPieces {
 public:
  /// Reads from an offset of the file; fewer bytes than asked for only at its end.
  using Read = std::function<std::size_t(std::uint64_t offset, std::span<std::byte> to)>;

  /// Maximum size of a read.
  static constexpr std::size_t probe_bytes = 4096;

  /// True if files can be cut so with this framing.
  static bool suit(Framing const& framing) noexcept;

  /// Throws: Error of kind bad_argument, if the delimiter is longer than half of probe_bytes, or than a tile.
  DelimitedPieces(FramingRef framing, std::size_t tile_bytes, LongRecords long_records);

  /// Beginning of a piece.
  struct Place {
    std::uint64_t offset = 0;
    bool within_long = false;  ///< True: a record that is too long for a tile ends behind it.
  };
  struct Piece {
    std::uint64_t offset = 0;  ///< Offset of its first record.
    std::size_t bytes = 0;     ///< 0 if a record is skipped that is too long.
    RecordLoss loss = {};
    Place next = {};  ///< Beginning of the next piece; the size of the file: this was the last one.
  };
  /// The piece that begins there. The rest of a file at its end is a record without its delimiter.
  ///
  /// Throws: what `read` throws.
  Piece next(Read const& read, Place from, std::uint64_t size) const;

 private:
  struct Found {
    std::optional<std::uint64_t> end = {};  ///< Position behind the last or first record that ends there.
    bool cut = false;                       ///< The file has fewer bytes than its size says.
  };
  Found last_end(Read const& read, std::uint64_t begin, std::uint64_t end) const;
  Found first_end(Read const& read, std::uint64_t begin, std::uint64_t end) const;

  FramingRef const framing_;
  std::size_t const tile_bytes_;
  LongRecords const long_records_;
  std::size_t const overlap_;  ///< Number of bytes of a delimiter that may precede a border of two probes.
};

}  // namespace penstock
