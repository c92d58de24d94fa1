// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "tools/watched/log.hpp"

namespace penstock::cli {

struct Hazards;

/// What only the legacy default stream keeps in order: the member `hazards` of a process.
nlohmann::ordered_json as_json(Hazards const& hazards, WatchLog const& log);

/// What a log shows of one process, as docs/commands/watch.md describes it.
nlohmann::ordered_json process_as_json(WatchLog const& log);

}  // namespace penstock::cli
