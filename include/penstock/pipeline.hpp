// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `Pipeline` and what it takes and gives: `PipelineOptions`, `tile_of`, `Source`, `generate`, `serial`, `Sink`,
/// `TileResult`, `Completion`, `Feed`, `Tile`, `Loan`, `elements`, `Report`.
#include "penstock/core/tile_result.hpp"
#include "penstock/flow/pipeline.hpp"
#include "penstock/stages.hpp"
