// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "anyprogram/watched/log.hpp"

namespace penstock::cli {

struct Hazards;

/// Operations that only the legacy default stream keeps in order: the member `hazards` of a process.
nlohmann::ordered_json as_json(Hazards const& hazards, WatchLog const& log);

/// Contents of a log of one process, as docs/commands/watch.md describes them.
nlohmann::ordered_json process_as_json(WatchLog const& log);

}  // namespace penstock::cli
