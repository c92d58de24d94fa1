// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "programs/compare/compared.hpp"

namespace penstock::cli {

/// A table for people, and the sentence.
std::string as_text(Compared const& compared);
/// JSON as docs/results.md describes it.
std::string as_json(Compared const& compared, std::string const& date, std::string const& command);
/// A line of names, and one for each point, as docs/results.md; texts with a comma or a quote are quoted.
std::string as_csv(Compared const& compared, std::string const& date);

}  // namespace penstock::cli
