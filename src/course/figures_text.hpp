// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "course/timeline.hpp"

namespace penstock::lab {

/// Figures in lines of at most `columns` characters, each after `indent` spaces. Figures with more than a value are
/// tables, unless there is no room for one.
std::string figures_text(std::span<Figure const> figures, std::size_t indent, std::size_t columns);

/// Names of the columns of figures_csv.
std::string figures_csv_names();
/// A line with commas for each figure, or one without a figure if there is none; each begins with the cells of `about`.
std::string figures_csv(std::vector<std::string> about, std::span<Figure const> figures);

}  // namespace penstock::lab
