// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "penstock/flow/pipeline_options.hpp"

namespace penstock::cli {

/// Makes tiles smaller and fewer if these paths cannot fill what `options` asks for, so that a small file is hashed in
/// little memory. Leaves the options alone unless all paths are regular files, and not many.
///
/// What it finds is only a hint: a file that grows is hashed all the same, in more tiles.
///
/// Shape: options.tile.input_bytes is a power of two, and stays one.
void fit_tiles(PipelineOptions& options, std::vector<std::string> const& paths);

}  // namespace penstock::cli
