// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

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

}  // namespace penstock::cli
