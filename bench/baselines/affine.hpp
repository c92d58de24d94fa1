// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

namespace baselines {

/// to[i] = 2 from[i] + 1, for `count` floats on the GPU.
///
/// Blocks: never.
[[nodiscard]] cudaError_t affine(float* to, float const* from, std::size_t count, cudaStream_t stream);

}  // namespace baselines
