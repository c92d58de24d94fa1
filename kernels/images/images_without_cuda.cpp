// SPDX-License-Identifier: Apache-2.0
#include "kernels/images/images_on_cuda.hpp"

namespace penstock {

void resize_images_prepare_cuda() {
  refuse_without_cuda();
}

void resize_images_cuda(std::span<ImageInput const> /*images*/, ImageForm const& /*form*/, std::size_t /*most_blocks*/,
                        void* /*stream*/) {
  refuse_without_cuda();
}

}  // namespace penstock
