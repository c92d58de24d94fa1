// SPDX-License-Identifier: Apache-2.0
// Remarks of the job `lines` on numbers that it could not add.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "line_results.hpp"
#include <penstock/error.hpp>
#include <penstock/job.hpp>

namespace penstock {

/// Number of lines whose number was added.
inline std::uint64_t lines_with_numbers(LineTotals const& totals) {
  std::uint64_t lines = 0;
  for (LineGroup const& group : totals.groups) lines += group.lines;
  for (std::uint64_t const without : totals.reasons.numbers) lines -= without;
  return lines;
}

/// Lines whose number was not added, by the reason. An empty field, a "-" and a missing member are no numbers in any
/// log, so they are left out; so is a field that was not asked for and in which no line has a number.
inline std::vector<LeftOut> numbers_left_out(LineTotals const& totals, LineFields const& fields,
                                             JobValues const& values) {
  bool const json = fields.format == LineFormat::json;
  bool const chosen = values.number("sum") != 0 || fields.number_name.size != 0;
  if (!chosen && (json || lines_with_numbers(totals) == 0)) return {};
  std::string const field =
      json ? "the member " + values.text("sum-name") : "field " + std::to_string(fields.number + 1);
  std::string const places =
      fields.places < most_line_places ? "give more --places than " + std::to_string(fields.places) : "";
  std::vector<LeftOut> all;
  auto const add = [&](LineReason reason, std::string const& words, std::string const& remedy) {
    all.push_back({.unit = "line",
                   .reason = field + words + ", and adds nothing",
                   .count = totals.reasons.numbers_of(reason),
                   .remedy = remedy,
                   .lost = false});
  };
  if (!json) add(LineReason::no_field, " is not there", "");
  add(LineReason::text, " is no number", "");
  add(LineReason::decimal, " has a sign, a point or an exponent", "give --numbers decimal");
  add(LineReason::not_whole, " has more places behind the point than sums", places);
  add(LineReason::too_large, " has more than 64 bits", fields.places > 0 ? "give fewer --places" : "");
  std::erase_if(all, [](LeftOut const& one) { return one.count == 0; });
  return all;
}

}  // namespace penstock
