// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace penstock::cli {

/// What process_as_json says, or a file of it, for people. Ends a line.
///
/// Throws: what the parser throws, if a member is not there, or is of another type.
std::string process_as_text(nlohmann::ordered_json const& process);

}  // namespace penstock::cli
