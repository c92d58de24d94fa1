// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "kernels/basic/cuda_bodies.hpp"
#include "penstock/device_memory.hpp"
#include "penstock/images.hpp"

namespace penstock {

/// The GPU's bodies of these launchers, like those of cuda_bodies.hpp.
void resize_images_prepare_cuda();
void resize_images_cuda(std::span<ImageInput const> images, ImageForm const& form, std::size_t most_blocks,
                        void* stream);

/// Maximum number of images in one kernel.
inline constexpr std::size_t resize_images_inputs = 32;

}  // namespace penstock
