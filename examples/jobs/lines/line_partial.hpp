// SPDX-License-Identifier: Apache-2.0
// Totals of a part of the input of the job `lines` as a text, which a ledger keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

#include "line_results.hpp"
#include "pattern_files.hpp"
#include <penstock/error.hpp>
#include <penstock/job.hpp>
#include <penstock/lines.hpp>

namespace penstock {

/// What totals depend on beside the options: where the first group begins, and the patterns.
inline std::string line_partial_head(LineTotals const& totals, LineFields const& fields, Patterns const& patterns) {
  return "lines 1 " + std::to_string(totals.groups.size()) + " " + std::to_string(fields.first_second) + " " +
         std::to_string(patterns ? digest_of_bytes(patterns->table()) : 0);
}

/// A line of its own for the head, for the reasons, and for each group that has lines.
inline std::string line_partial(LineTotals const& totals, LineFields const& fields, Patterns const& patterns) {
  std::ostringstream text;
  text << line_partial_head(totals, fields, patterns) << "\n";
  LineReasons const& reasons = totals.reasons;
  for (std::uint64_t const number : reasons.keys) text << number << " ";
  for (std::uint64_t const number : reasons.numbers) text << number << " ";
  text << reasons.largest << " " << reasons.before << " " << reasons.open_quotes << "\n";
  for (std::size_t k = 0; k < totals.groups.size(); ++k) {
    LineGroup const& group = totals.groups[k];
    if (group.lines == 0) continue;
    text << k << " " << group.lines << " " << group.sum << " " << group.high << " " << group.without << "\n";
  }
  return text.str();
}

/// Adds such a text.
///
/// Throws: Error of kind bad_argument, if it is of other input or another version.
inline void add_line_partial(std::string_view added, LineFields const& fields, Patterns const& patterns,
                             LineTotals& totals) {
  std::istringstream text{std::string(added)};
  std::string head;
  std::getline(text, head);
  if (head != line_partial_head(totals, fields, patterns)) {
    throw Error(
        ErrorKind::bad_argument,
        "The ledger is of other lines: the times of the input, the patterns or the version of this program were "
        "others. Name another file for --ledger.");
  }
  LineTotals more{.groups = std::vector<LineGroup>(totals.groups.size()), .reasons = {}};
  for (std::uint64_t& number : more.reasons.keys) text >> number;
  for (std::uint64_t& number : more.reasons.numbers) text >> number;
  text >> more.reasons.largest >> more.reasons.before >> more.reasons.open_quotes;
  LineGroup group;
  for (std::size_t k = 0; text >> k >> group.lines >> group.sum >> group.high >> group.without;)
    more.groups.at(k) = group;
  totals += more;
}

}  // namespace penstock
