// SPDX-License-Identifier: Apache-2.0
// What the job `lines` says of the groups that it added up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/line_sums.hpp>

namespace penstock {

/// What one lane, or all of them, made of the lines.
struct LineTotals {
  std::vector<LineGroup> groups;
  LineReasons reasons;

  LineTotals& operator+=(LineTotals const& other) {
    for (std::size_t k = 0; k < groups.size(); ++k) groups[k] += other.groups[k];
    reasons += other.reasons;
    return *this;
  }
};

/// That most lines have no group of their own, if it is so, and what options to give.
inline std::vector<std::string> remarks_on(LineTotals const& totals, LineFields const& fields) {
  std::vector<LineGroup> const& groups = totals.groups;
  std::uint64_t all = 0;
  for (LineGroup const& group : groups) all += group.lines;
  std::uint64_t const other = groups.back().lines;
  if (other <= all / 2) return {};
  std::string const key = fields.format == LineFormat::json ? "key-name" : "key";
  std::string const field = key == "key" ? "field " + std::to_string(fields.key + 1) : "the member";
  bool const times = fields.group_seconds != 0;
  return {"The row `other` has " + std::to_string(other) + " of " + std::to_string(all) +
          (all == 1 ? " line" : " lines") + ", as " + field +
          (times ? " is no time within the groups" : " is no number below " + std::to_string(groups.size() - 1)) +
          ". Give --" + key + " for another field, --format for other lines, or " +
          (times ? "--from and --groups for other times." : "--groups for more groups.")};
}

/// A row for each group that has lines: its name, the lines and the sum; of decimal numbers also the lines without one.
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
