// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "penstock/report.hpp"

namespace penstock::cli {

/// Lines of cells, the first of them with names. The first `texts` columns are on the left of their width, the others,
/// which are figures, on the right.
std::string text_table(std::vector<std::vector<std::string>> const& rows, std::size_t texts);
/// A line of cells with commas between them; cells with a comma, a quote or an end of line are quoted.
std::string csv_line(std::vector<std::string> const& cells);
/// With four digits that count: "12.34", "0.123", "1234".
std::string short_number(double value);
/// A value of an axis as people read it: sizes in KiB and the like.
std::string axis_value_text(std::string const& axis, std::string const& value);

/// Null for what is not known: an empty text.
inline nlohmann::ordered_json or_null(std::string const& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

/// Null for what is not known: a value that is not there.
template <class Value>
nlohmann::ordered_json or_null(std::optional<Value> const& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

/// For people: what `describe` says, and a line on what a tile takes of the device. Ends a line.
std::string as_text(Verdict const& verdict);
/// The members of docs/results.md that say no more than the verdict does.
nlohmann::ordered_json as_members(Verdict const& verdict);

}  // namespace penstock::cli
