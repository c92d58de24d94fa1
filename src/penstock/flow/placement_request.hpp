// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/device.hpp"
#include "penstock/machine/placement.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// What a pipeline asks to be placed next to one of its devices. Of the options only those count that say how many
/// threads there are, and whether they are bound.
PlacementRequest placement_request(PipelineOptions const& options, DeviceInfo const& device);

}  // namespace penstock
