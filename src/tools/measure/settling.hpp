// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "penstock/flow/pipeline_options.hpp"

namespace penstock::measure {

/// How many tiles it takes until all lanes of such a pipeline have tried the ways that they choose from, and have
/// captured in all slots, if they capture at all. A lane with tiles in flight tries no ways for lone ones, so with many
/// it may be more.
///
/// Shape:  as a pipeline has made them.
/// Source: docs/decisions/0028 and 0034.
std::uint64_t settling_tiles(PipelineOptions const& made) noexcept;

}  // namespace penstock::measure
