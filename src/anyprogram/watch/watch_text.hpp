// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace penstock::cli {

/// The result of process_as_json, or a file of it, as text for people. Ends a line.
///
/// Throws: what the parser throws, if a member is not there, or is of another type.
std::string process_as_text(nlohmann::ordered_json const& process);

/// The figures of a process in a row, as csv_of takes it.
///
/// Throws: likewise.
nlohmann::ordered_json row_of(nlohmann::ordered_json const& process);

}  // namespace penstock::cli
