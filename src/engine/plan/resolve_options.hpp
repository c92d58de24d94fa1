// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/machine/topology.hpp"
#include "engine/plan/spin_room.hpp"
#include "penstock/device.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// Fills in what the user left to the machine; what it could not grant goes to `remarks`. Threads of other pipelines
/// that stay awake are `elsewhere`.
///
/// Shape: one device or more.
/// Throws: Error, if the options contradict themselves or ask for what cannot be.
PipelineOptions resolve(PipelineOptions options, std::vector<Device*> const& devices, Topology const& topology,
                        std::vector<std::string>& remarks, AwakeThreads const& elsewhere = {});

}  // namespace penstock
