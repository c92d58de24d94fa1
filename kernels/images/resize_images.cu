// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/basic/cuda_launch.cuh"
#include "kernels/images/images_on_cuda.hpp"
#include "kernels/images/resize_rules.hpp"
#include "penstock/images.hpp"

namespace penstock {
namespace {

/// Arguments of a kernel, passed by value.
struct ResizeArguments {
  unsigned char const* images[resize_images_inputs];
  std::uint64_t bytes[resize_images_inputs];
  float* tensors[resize_images_inputs];
  unsigned count, blocks_of_each, width, height;
  float mean[3], deviation[3];
};

/// Each thread computes one place of a tensor, all three colours of it.
__global__ void __launch_bounds__(block_threads) resize_places(ResizeArguments const all) {
  unsigned const plane = all.width * all.height;
  for (unsigned block = blockIdx.x; block < all.count * all.blocks_of_each; block += gridDim.x) {
    unsigned const image = block / all.blocks_of_each;
    unsigned const place = block % all.blocks_of_each * block_threads + threadIdx.x;
    if (place >= plane) continue;
    unsigned char const* const bytes = all.images[image];
    float* const to = all.tensors[image] + place;
    ImageHead head;
    if (all.bytes[image] >= sizeof head) head = *reinterpret_cast<ImageHead const*>(bytes);
    if (!holds_image(head, all.bytes[image])) {
      for (unsigned colour = 0; colour < 3; ++colour) to[std::size_t{colour} * plane] = 0;
      continue;
    }
    ResizeTaps const rows = resize_taps(place / all.width, all.height, head.part_height);
    ResizeTaps const columns = resize_taps(place % all.width, all.width, head.part_width);
    float sums[3] = {}, every = 0;
    for (unsigned row = rows.first; row < rows.end; ++row) {
      float const of_row = rows.weight(row);
      unsigned char const* pixel =
          bytes + sizeof head + 3 * (std::size_t{head.top + row} * head.width + std::size_t{head.left} + columns.first);
      for (unsigned column = columns.first; column < columns.end; ++column, pixel += 3) {
        float const weight = of_row * columns.weight(column);
        every += weight;
        for (unsigned colour = 0; colour < 3; ++colour) sums[colour] += weight * static_cast<float>(pixel[colour]);
      }
    }
    for (unsigned colour = 0; colour < 3; ++colour) {
      to[std::size_t{colour} * plane] = (sums[colour] / (every * 255) - all.mean[colour]) / all.deviation[colour];
    }
  }
}

}  // namespace

void resize_images_prepare_cuda() {
  load_kernel(resize_places, "Loading the resize_images kernel");
}

void resize_images_cuda(std::span<ImageInput const> images, ImageForm const& form, std::size_t most_blocks,
                        void* stream) {
  ResizeArguments all{};
  for (ImageInput const& input : images) {
    all.images[all.count] = reinterpret_cast<unsigned char const*>(input.image.address());
    all.bytes[all.count] = input.image.size();
    all.tensors[all.count++] = input.tensor.address();
  }
  all.width = form.width;
  all.height = form.height;
  std::ranges::copy(form.mean, all.mean);
  std::ranges::copy(form.deviation, all.deviation);
  std::size_t const of_each = (form.elements() / 3 + block_threads - 1) / block_threads;
  all.blocks_of_each = static_cast<unsigned>(of_each);
  launch_kernel<ResizeArguments>(resize_places, static_cast<unsigned>(std::min(all.count * of_each, most_blocks)),
                                 block_threads, stream, "The resize_images kernel", all);
}

}  // namespace penstock
