// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "penstock/clock.hpp"
#include "penstock/records/record_stages.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// A tile of records, and the notes about them. There is one for each tile of the pool; it keeps what it allocates.
///
/// Threads: the one that has the tile.
struct Pack {
  using Entry = RecordCompletions::Entry;

  Loan loan = {};         ///< Set while the tile is being packed.
  std::size_t used = 0;   ///< Bytes of the tile that are used so far.
  std::size_t bytes = 0;  ///< Bytes of the records themselves.
  bool listened = false;  ///< At least one of them has a listener.
  /// Time at which it was first put down; empty before.
  std::optional<Clock::time_point> since = {};
  std::vector<Entry> entries = {};
  std::vector<RecordPlace> places = {};  ///< Empty, if all records are of the same size.

  /// Restarts with an empty tile.
  void open(Loan tile) noexcept {
    loan = std::move(tile);
    used = bytes = 0;
    listened = false;
    since.reset();
    entries.clear();
    places.clear();
  }
  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(entries.size()); }
};

}  // namespace penstock
