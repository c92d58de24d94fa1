// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "course/timeline.hpp"

namespace penstock::lab {

/// Figures in lines of at most `columns` characters, each after `indent` spaces. Figures that compare are tables,
/// unless there is no room for one.
std::string figures_text(std::span<Figure const> figures, std::size_t indent, std::size_t columns);

}  // namespace penstock::lab
