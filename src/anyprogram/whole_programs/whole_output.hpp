// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "anyprogram/whole_programs/whole_comparison.hpp"

namespace penstock::cli {

/// A table of the times of both, and the sentences on speed and on results.
///
/// Shape: after a round.
std::string as_text(WholeComparison const& compared);
/// A sentence that compares the GPU times of both, for programs of which they are less than half of the wall time;
/// empty for others, and where they are not known.
///
/// Shape: after a round.
std::string gpu_sentence(WholeComparison const& compared);
/// A row for each run, as csv_of takes them.
std::vector<nlohmann::ordered_json> rows_of(WholeComparison const& compared);
/// The same as members of JSON, which docs/commands/try.md describes.
nlohmann::ordered_json as_members(WholeComparison const& compared);

}  // namespace penstock::cli
