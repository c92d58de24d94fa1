// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <cuda_runtime_api.h>

namespace penstock::cuda {

/// One sentence that says what to do about an error.
///
/// Threads: as kind_of.
std::string_view remedy_for(cudaError_t error) noexcept;

}  // namespace penstock::cuda
