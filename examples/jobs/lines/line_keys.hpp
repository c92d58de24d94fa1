// SPDX-License-Identifier: Apache-2.0
// Remarks of the job `lines` on the lines in its row `other`, and on records that it cannot read.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "line_results.hpp"
#include <penstock/error.hpp>
#include <penstock/job.hpp>

namespace penstock {

/// Sentences on the keys of lines that have no group of their own.
class LineKeys {
 public:
  LineKeys(LineTotals const& totals, LineFields const& fields, JobValues const& values)
      : totals_(totals),
        fields_(fields),
        most_("below " + std::to_string(totals.groups.size() - 1)),
        json_(fields.format == LineFormat::json),
        times_(fields.group_seconds != 0),
        field_(json_ ? "the member " + values.text("key-name") : "field " + std::to_string(fields.key + 1)) {}

  /// Sentences on the number of lines in the row `other`, the reason that most of them have, and what helps.
  std::vector<std::string> remarks() const {
    std::uint64_t const other = totals_.groups.back().lines;
    if (other == 0) return {};
    std::uint64_t all = 0;
    for (LineGroup const& group : totals_.groups) all += group.lines;
    auto const* const most = std::ranges::max_element(totals_.reasons.keys);
    auto const reason = static_cast<LineReason>(most - std::begin(totals_.reasons.keys));
    bool const helps = (no_lines_of_json(reason) ? without_object() : *most) > all / 2 ||
                       reason == LineReason::outside || reason == LineReason::no_year;
    std::string const remedy =
        helps ? remedy_of(reason) : "";  // The field is the right one where most lines have a group.
    return {"The row `other` has " + std::to_string(other) + " of " + std::to_string(all) +
            (all == 1 ? " line" : " lines") + ", " + (*most == other ? "" : std::to_string(*most) + " of them ") +
            "as " + words_of(reason) + "." + (remedy.empty() ? "" : " " + remedy + ".")};
  }
  /// The lines of the row `other` by their reasons, and those that end within quotes.
  std::vector<LeftOut> left_out() const {
    std::vector<LeftOut> all;
    for (std::size_t k = 0; k < line_reasons; ++k) {
      auto const reason = static_cast<LineReason>(k);
      if (totals_.reasons.keys[k] == 0) continue;
      all.push_back({.unit = "line", .reason = words_of(reason), .count = totals_.reasons.keys[k], .lost = false});
    }
    if (totals_.reasons.open_quotes != 0) {
      all.push_back({.unit = "record",
                     .reason = "cut at a line break within quotes, so that its parts count as lines",
                     .count = totals_.reasons.open_quotes,
                     .remedy = "take the two fields out by a program that reads line breaks within quotes, as csvcut "
                               "does; or, if quotes mean nothing in them, give another --format"});
    }
    return all;
  }

 private:
  std::string words_of(LineReason reason) const {
    switch (reason) {
      case LineReason::used:
        break;
      case LineReason::no_field:
        return field_ + " is not there";
      case LineReason::empty:
        return field_ + " is empty or `-`";
      case LineReason::text:
        return field_ + (times_ ? " is no time that is understood" : " is no number " + most_);
      case LineReason::decimal:
      case LineReason::not_whole:
        return field_ + " is no whole number";
      case LineReason::too_large:
        return field_ + (times_ ? " is not in the years 0 to 9999" : " is a number of more than 64 bits");
      case LineReason::no_year:
        return field_ + " is a time without a year";
      case LineReason::outside:
        return field_ + (times_ ? " is no time within the groups" : " is no number " + most_);
      case LineReason::no_object:
        return "there is no object";
      case LineReason::unfinished:
        return "the object does not end with the line";
      case LineReason::broken:
        return "quotes, brackets or names do not fit together";
      case LineReason::shifted:
        return shifted();
    }
    return field_ + " is not used";
  }
  std::string shifted() const {
    if (fields_.key < access_log_time) return "other than three fields are in front of the time in brackets";
    return "there is no time in brackets with a request in quotes, a status of three digits and bytes behind it";
  }
  /// True for reasons of lines in which no object begins and ends, as in an array or an object over several lines.
  bool no_lines_of_json(LineReason reason) const {
    return json_ &&
           (reason == LineReason::no_object || reason == LineReason::unfinished || reason == LineReason::broken);
  }
  std::uint64_t without_object() const {
    std::uint64_t all = 0;
    for (LineReason const reason : {LineReason::no_object, LineReason::unfinished, LineReason::broken})
      all += totals_.reasons.keys[static_cast<std::size_t>(reason)];
    return all;
  }
  /// A sentence without its full stop; empty if nothing helps.
  std::string remedy_of(LineReason reason) const {
    std::string const other_field = json_ ? "--key-name for another member" : "--key for another field";
    if (no_lines_of_json(reason)) {
      return "Each object must have a line of its own: `jq -c '.[]'` writes an array so, and `jq -c .` objects over "
             "several lines";
    }
    switch (reason) {
      case LineReason::no_field:
      case LineReason::too_large:
        return "Give " + other_field + (json_ ? "" : ", or --format for other lines");
      case LineReason::text:
        return "Give " + other_field + " or --format for other lines" +
               (times_ ? "" : ": texts have no groups, and --groups cannot help");
      case LineReason::decimal:
      case LineReason::not_whole:
        return "Give " + other_field + ": only whole numbers from 0 on have groups, and --groups cannot help";
      case LineReason::no_year:
        return "Give --from: each is then the first such time from there on";
      case LineReason::outside:
        return times_ ? other_times() : other_groups();
      case LineReason::shifted:
        return "Give --format for other lines";
      default:
        return "";
    }
  }
  std::string other_groups() const {
    std::uint64_t const largest = totals_.reasons.largest;
    if (largest + 1 < totals_.groups.size()) return "Numbers below 0 have no groups";
    if (largest < most_line_groups - 1)
      return "Give --groups " + std::to_string(largest + 1) + " to have a row for each";
    std::string const more = totals_.groups.size() < most_line_groups ? "give that for more rows, or " : "give ";
    return "The largest is " + std::to_string(largest) + ", and --groups is at most " +
           std::to_string(most_line_groups - 1) + ": " + more +
           (json_ ? "--key-name for a member" : "--key for a field") + " with smaller numbers";
  }
  std::string other_times() const {
    std::uint64_t const before = totals_.reasons.before;
    std::uint64_t const behind = std::max<std::uint64_t>(totals_.reasons.largest + 1, totals_.groups.size() - 1);
    constexpr std::uint64_t most = most_line_groups - 1;
    if (before > most || behind > most || before + behind > most) {
      return "They take more than " + std::to_string(most) + " groups: give a larger unit with --by" +
             (before == 0 ? ", or a later --from" : "");
    }
    LineFields first = fields_;
    first.first_second -= static_cast<std::int64_t>(before) * fields_.group_seconds;
    return "Give --from " + group_name(0, first) + " --groups " + std::to_string(before + behind) +
           " to have a row for each";
  }

  LineTotals const& totals_;
  LineFields const& fields_;
  std::string const most_;
  bool const json_, times_;
  std::string const field_;
};

}  // namespace penstock
