// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "penstock/framing.hpp"

namespace penstock {

/// Cuts a file of known size, whose records end with a delimiter, into pieces one behind the other: each begins with a
/// record and has as many whole ones as fit into a tile. So each record that fits into a tile is in one, wherever it
/// lies, as in a stream.
///
/// It reads what lies in front of the end of each tile, usually a kibibyte, and more only where records are longer.
///
/// Threads: any.
class DelimitedPieces {
 public:
  /// Reads from an offset of the file; fewer bytes than asked for only at its end.
  using Read = std::function<std::size_t(std::uint64_t offset, std::span<std::byte> to)>;

  /// What is read at most at a time.
  static constexpr std::size_t probe_bytes = 4096;

  /// True if files can be cut so with this framing.
  static bool suit(Framing const& framing) noexcept;

  /// Throws: Error of kind bad_argument, if the delimiter is longer than half of probe_bytes, or than a tile.
  DelimitedPieces(FramingRef framing, std::size_t tile_bytes, LongRecords long_records);

  /// Where a piece begins.
  struct Place {
    std::uint64_t offset = 0;
    bool within_long = false;  ///< A record that is too long for a tile ends behind it.
  };
  struct Piece {
    std::uint64_t offset = 0;  ///< Of its first record.
    std::size_t bytes = 0;     ///< None, if a record is passed over that is too long.
    RecordLoss loss = {};
    Place next = {};  ///< At the size of the file: this was the last piece.
  };
  /// The piece from there on. What is left of a file at its end is a record without its delimiter.
  ///
  /// Throws: what `read` throws.
  Piece next(Read const& read, Place from, std::uint64_t size) const;

 private:
  struct Found {
    std::optional<std::uint64_t> end = {};  ///< Behind the last or first record that ends there.
    bool cut = false;                       ///< The file holds less than its size says.
  };
  Found last_end(Read const& read, std::uint64_t begin, std::uint64_t end) const;
  Found first_end(Read const& read, std::uint64_t begin, std::uint64_t end) const;

  FramingRef const framing_;
  std::size_t const tile_bytes_;
  LongRecords const long_records_;
  std::size_t const overlap_;  ///< What a delimiter may have in front of a border of two probes.
};

}  // namespace penstock
