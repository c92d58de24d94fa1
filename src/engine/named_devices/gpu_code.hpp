// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace penstock {

/// Says what is missing in a build for a GPU, with its remedy; empty, if the GPU can run kernels that were compiled for
/// `architectures`. These are as CMAKE_CUDA_ARCHITECTURES has them, with commas: "80-real,90,100a-virtual". Words that
/// are no architecture, as "native", say nothing, and all GPUs can run them.
///
/// Source: CUDA C++ Programming Guide, Binary Compatibility and PTX Compatibility; CMake, CUDA_ARCHITECTURES.
std::string missing_gpu_code(std::string_view gpu, std::string_view capability, std::string_view architectures);

}  // namespace penstock
