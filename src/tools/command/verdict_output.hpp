// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "penstock/report/verdict.hpp"

namespace penstock::cli {

/// For people: what `describe` says, and a line on what a tile takes of the device. Ends a line.
std::string as_text(Verdict const& verdict);
/// The members of docs/results.md that say no more than the verdict does.
nlohmann::ordered_json as_members(Verdict const& verdict);

}  // namespace penstock::cli
