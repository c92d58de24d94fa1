// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

#include "engine/cuda/health.hpp"
#include "penstock/device_memory.hpp"
#include "penstock/flavour.hpp"

namespace penstock::cuda {
inline namespace PENSTOCK_FLAVOUR {

/// Allocates as StreamRef::allocate, from the default memory pool of the stream's device; for a default stream, of the
/// device that is current now.
///
/// Throws: Error of kind device_refused, if the stream captures: a graph would own the memory.
DeviceMemory allocate_in_order(Health& health, std::size_t bytes, cudaStream_t stream);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cuda
