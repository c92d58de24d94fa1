// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "penstock/report.hpp"

namespace penstock {

/// Translates options of a command to members of PipelineOptions: "--slots 8 --tiles 25" to "tuning.slots = 8,
/// tuning.tiles = 25", and "--tile 4MiB" to "a tile of 4MiB". Other text is not changed.
///
/// Threads: any.
std::string in_members(std::string_view change);

/// Translates the advice of a verdict in the same way, for programs that embed penstock.
///
/// Threads: any.
Verdict in_members(Verdict verdict);

/// Translates the result of `in_members` back, for a command that runs a pipeline of the library.
///
/// Threads: any.
Verdict in_options(Verdict verdict);

/// Translates a sentence of the library for a user of the command line: "leave out `slots`" to "leave out --slots".
/// Members that no command has are unchanged.
///
/// Threads: any.
std::string in_options(std::string_view sentence);

}  // namespace penstock
