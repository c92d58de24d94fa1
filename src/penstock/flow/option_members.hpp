// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "penstock/report.hpp"

namespace penstock {

/// What says in options of a command how to change a pipeline, in members of PipelineOptions: "tuning.slots = 8,
/// tuning.tiles = 25" for "--slots 8 --tiles 25", "a tile of 4MiB" for "--tile 4MiB". What is no option stays as it is.
///
/// Threads: any.
std::string in_members(std::string_view change);

/// The verdict with advice for a program that embeds penstock.
///
/// Threads: any.
Verdict in_members(Verdict verdict);

}  // namespace penstock
