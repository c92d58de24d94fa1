// SPDX-License-Identifier: Apache-2.0
// Results of the job `lines` on the groups that it added up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/lines.hpp>

namespace penstock {

/// Totals of one lane, or of all of them.
struct LineTotals {
  std::vector<LineGroup> groups;
  LineReasons reasons;

  LineTotals& operator+=(LineTotals const& other) {
    for (std::size_t k = 0; k < groups.size(); ++k) groups[k] += other.groups[k];
    reasons += other.reasons;
    return *this;
  }
};

/// A row for each group that has lines: its name, the lines and the sum; for decimal numbers also the lines without
/// one.
inline std::string text_of(LineTotals const& totals, LineFields const& fields) {
  std::vector<LineGroup> const& groups = totals.groups;
  std::string text;
  for (std::size_t k = 0; k < groups.size(); ++k) {
    LineGroup const& group = groups[k];
    if (group.lines == 0) continue;
    text += (k + 1 == groups.size() ? "other" : group_name(k, fields)) + " " + std::to_string(group.lines) + " " +
            sum_text(group, fields) + (has_decimals(fields) ? " " + std::to_string(group.without) : "") + "\n";
  }
  return text;
}

}  // namespace penstock
