// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "penstock/flow/report.hpp"
#include "penstock/records/departures.hpp"

namespace penstock {

/// What became of the records that were written between `start` and `drain`. Each is counted once.
struct RecordReport {
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t bytes_in = 0;   ///< Of the records that are done.
  std::uint64_t bytes_out = 0;  ///< Likewise.
  /// How many tiles left for which reason.
  std::array<std::uint64_t, departure_kinds> left = {};
  /// What the pipeline reports. Its bytes include tables and gaps, and the tag of a tile is its number in the pool.
  Report tiles = {};

  std::uint64_t records() const noexcept { return done + failed + cancelled; }
  std::uint64_t left_for(Departure why) const noexcept { return left.at(static_cast<std::size_t>(why)); }
  /// True if every record is done and nothing else went wrong.
  bool ok() const noexcept { return failed == 0 && cancelled == 0 && tiles.ok(); }
};

/// The report in one line for a person, and what there is to say of the tiles below.
std::string describe(RecordReport const& report);

}  // namespace penstock
