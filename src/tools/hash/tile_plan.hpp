// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <unistd.h>

#include "penstock/flow/pipeline_options.hpp"

namespace penstock::cli {

/// Makes tiles smaller and fewer if these paths cannot fill what `options` asks for, so that a small file is hashed in
/// little memory. Leaves the options alone if there is a directory among the paths, or there are many. Standard input
/// counts as a file if it is one, or a pipe that has been written to its end. A pipe that goes on, a terminal or a
/// device may end with the next byte: it has tiles of 64 MiB at most, and four of these; but what `options` asks for if
/// that says how many tiles.
///
/// What it finds is only a hint: a file that grows is hashed all the same, in more tiles.
///
/// Shape: options.tile.input_bytes is a power of two, and stays one.
/// Blocks: for a tenth of a second at most, if the tiles take more than 256 MiB, for the end of such a pipe.
void fit_tiles(PipelineOptions& options, std::vector<std::string> const& paths, int standard_input = STDIN_FILENO);

}  // namespace penstock::cli
