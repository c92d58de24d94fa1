// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <nlohmann/json.hpp>

#include "anyprogram/watched/log.hpp"

namespace penstock::cli {

/// The times of each call and each work of the device, in the form of `timeline` of docs/results.md: a row for each
/// thread and each stream, and CUPTI's correlation in the place of a tile. For a longer log it has a stretch from the
/// middle.
nlohmann::ordered_json timeline_as_json(WatchLog const& log, std::size_t most_passages);

}  // namespace penstock::cli
