// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

#include "penstock/cuda/health.hpp"
#include "penstock/device_memory.hpp"
#include "penstock/flavour.hpp"

namespace penstock::cuda {
inline namespace PENSTOCK_FLAVOUR {

/// As StreamRef::allocate, of the default memory pool of the stream's device; of a default stream's, the device that is
/// current now.
///
/// Throws: Error of kind device_refused, if the stream captures: a graph would own the memory.
DeviceMemory allocate_in_order(Health& health, std::size_t bytes, cudaStream_t stream);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cuda
