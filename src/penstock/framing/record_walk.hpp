// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "penstock/framing.hpp"

namespace penstock {

/// True if records lead from one to the next: neither their ends nor their sizes are known without a walk.
inline bool leads_on(Framing const& framing) noexcept {
  return framing.delimiter_bytes() == 0 && framing.equal_bytes() == 0;
}

/// Where a walk over records has come to.
struct Walked {
  FramingRef framing;                      ///< Of what comes behind.
  std::size_t bytes = 0;                   ///< Of whole records.
  std::optional<std::uint64_t> next = {};  ///< How long the record behind them is, if its beginning tells.
  bool part = false;                       ///< It begins a tile.
  std::optional<Error> damage = {};        ///< No record begins behind them, and why.
};
/// Walks over the whole records of these bytes, which begin with one of this framing, as long as they begin in front of
/// `border`. Their places are added to `places`, unless that is null; `base` is the place of the first byte.
Walked walk_records(FramingRef framing, std::span<std::byte const> bytes, std::size_t border,
                    std::vector<std::uint32_t>* places, std::uint32_t base = 0);

/// What is known of the records of a tile.
struct TileRecords {
  FramingRef framing = {};  ///< Of the first of them. Null: the tile has no records.
  FramingRef last = {};     ///< Behind the last one, if their places are known.
  std::vector<std::uint32_t> places = {};
};
/// As write_record_places.
std::size_t write_places(TileRecords const& of, std::span<std::byte const> records, std::span<std::byte> to);

}  // namespace penstock
