// SPDX-License-Identifier: Apache-2.0
// Input that a run did not pass on or could not use, with the reasons.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace penstock {

/// Input of one kind that a run did not pass on or could not use, for one reason.
struct LeftOut {
  std::string unit;         ///< The unit counted, in the singular: "record", "file", "packet".
  std::string reason;       ///< The reason, as words that can follow a comma: "too long for a tile".
  std::uint64_t count = 0;  ///< Number of units.
  std::uint64_t bytes = 0;  ///< Total size of these units in bytes; 0 if not known.
  std::string remedy = {};  ///< The remedy, as words without a full stop: "make tiles larger"; empty if nothing helps.
  /// True if the input did not reach the results. False if the results count it as input that could not be used, as
  /// a row `other` does.
  bool lost = true;

  bool operator==(LeftOut const&) const = default;
};

/// Adds `more` to `all`: entries that differ only in their numbers become one, and entries that count nothing are left
/// out.
void add_left_out(std::vector<LeftOut>& all, std::span<LeftOut const> more);

/// True if any entry is of input that did not reach the results.
bool any_lost(std::span<LeftOut const> all) noexcept;

/// All entries in one line: "Left out: 2 records (3.1 KiB), too long for a tile: make tiles larger; 1 file, ...". Empty
/// if there are none.
std::string describe(std::span<LeftOut const> all);

}  // namespace penstock
