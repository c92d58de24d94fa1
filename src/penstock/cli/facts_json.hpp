// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "penstock/cli/bench_output.hpp"

namespace penstock::cli {

/// The members `penstock`, `machine`, `device`, `date` and `command` of docs/results.md.
nlohmann::ordered_json as_members(BenchFacts const& facts);

}  // namespace penstock::cli
