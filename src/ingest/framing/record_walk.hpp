// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "penstock/ingest/framing.hpp"

namespace penstock {

/// True if records are found only by a walk from one to the next: neither their ends nor their sizes are known.
inline bool leads_on(Framing const& framing) noexcept {
  return framing.delimiter_bytes() == 0 && framing.equal_bytes() == 0;
}

/// State behind a walk over records.
struct Walked {
  FramingRef framing;                      ///< Framing of the following record.
  std::size_t bytes = 0;                   ///< Bytes of whole records.
  std::optional<std::uint64_t> next = {};  ///< Length of the following record, if its beginning tells.
  bool part = false;                       ///< The following record begins a tile.
  std::optional<Error> damage = {};        ///< The error if no record begins behind them.
};
/// Walks over the whole records of these bytes, which begin with one of this framing, up to the last that begins in
/// front of `border`. Their places are added to `places`, unless that is null; `base` is the place of the first byte.
Walked walk_records(FramingRef framing, std::span<std::byte const> bytes, std::size_t border,
                    std::vector<std::uint32_t>* places, std::uint32_t base = 0);

/// Records of a tile, as far as known.
struct TileRecords {
  FramingRef framing = {};  ///< Framing of the first of them. Null: the tile has no records.
  FramingRef last = {};     ///< Framing behind the last one, if their places are known.
  std::vector<std::uint32_t> places = {};
};
/// Has the contract of write_record_places.
std::size_t write_places(TileRecords const& of, std::span<std::byte const> records, std::span<std::byte> to);

}  // namespace penstock
