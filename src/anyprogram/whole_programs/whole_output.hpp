// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "anyprogram/whole_programs/whole_comparison.hpp"

namespace penstock::cli {

/// A table of the times of both, and the sentences on speed and on results.
///
/// Shape: after a round.
std::string as_text(WholeComparison const& compared);
/// A line of names and one for each run, with commas.
std::string as_csv(WholeComparison const& compared);
/// The same as members of JSON, which docs/commands/try.md describes.
nlohmann::ordered_json as_members(WholeComparison const& compared);

}  // namespace penstock::cli
