// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "penstock/cuda/pci.hpp"
#include "penstock/cuda/probe.hpp"
#include "penstock/device.hpp"

namespace penstock::cuda {

/// How many GPUs this process can use; 0 if anything stands in the way.
///
/// Threads: any.
/// Blocks:  as look.
int device_count();

/// What one GPU says of itself, without a context on it and so without what is free.
///
/// Threads: any.
/// Blocks:  as look.
/// Throws:  Error, if there is no such GPU.
DeviceInfo describe(int ordinal, PciBus const& bus = PciBus());

/// Every GPU that this process can use, described; empty if anything stands in the way.
///
/// Threads: any.
/// Blocks:  as look.
/// Throws:  Error, if a GPU is there and does not describe itself.
std::vector<DeviceInfo> list();

}  // namespace penstock::cuda
