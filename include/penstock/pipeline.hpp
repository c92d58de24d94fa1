// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `Pipeline` and what it takes and gives: `PipelineOptions`, `Source`, `generate`, `Sink`, `Feed`, `Tile`, `Loan`,
/// `elements`, `Completion`, `Report`.
#include "penstock/flow/pipeline.hpp"
#include "penstock/stages.hpp"
