// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "course/timeline.hpp"

namespace penstock::lab {

/// Figures in lines of at most `columns` characters, each after `indent` spaces. Figures with more than a value are
/// tables, unless there is no room for one.
std::string figures_text(std::span<Figure const> figures, std::size_t indent, std::size_t columns);

/// A row for each figure, as cli::csv_of takes them, or one without a figure if there is none. Each begins with the
/// members of `about`.
std::vector<nlohmann::ordered_json> rows_of(nlohmann::ordered_json const& about, std::span<Figure const> figures);

}  // namespace penstock::lab
