// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/lane/flight.hpp"
#include "penstock/device.hpp"

namespace penstock::measure {

/// Runs kernels that note themselves when they ran, and holds a recording of the same run to what they noted: how long
/// each took, for how long any ran, and how much of that was at once with others, each within a twentieth. On the CPU
/// device, which shares its CPUs with everybody, only that nothing is missing. One in `every` tiles is looked at.
/// With CUPTI it is its times that are held to that, and not those of events.
void expect_recorded_as_noted(Device& device, LaneShape shape, std::uint64_t every, bool cupti = false);

}  // namespace penstock::measure
