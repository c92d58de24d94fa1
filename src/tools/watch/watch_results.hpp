// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "tools/watch/log.hpp"

namespace penstock::cli {

struct Hazards;

/// What only the legacy default stream keeps in order: the member `hazards` of a process.
nlohmann::ordered_json as_json(Hazards const& hazards, WatchLog const& log);

/// What a log shows of one process, as docs/commands/watch.md describes it.
nlohmann::ordered_json process_as_json(WatchLog const& log);

/// The same for people, of what `process_as_json` or a file of it says. Ends a line.
///
/// Throws: what the parser throws, if a member is not there, or is of another type.
std::string process_as_text(nlohmann::ordered_json const& process);

}  // namespace penstock::cli
