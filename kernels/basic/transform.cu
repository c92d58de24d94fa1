// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/basic/cuda_bodies.hpp"
#include "kernels/basic/cuda_launch.cuh"

namespace penstock {
namespace {

constexpr unsigned transform_threads = block_threads;

__global__ void __launch_bounds__(transform_threads)
    add_one_the_long_way(float const* from, std::uint64_t first_index, float* to, std::uint64_t count) {
  std::uint64_t const step = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    float sine = 0;
    float cosine = 0;
    sincosf(static_cast<float>(first_index + i), &sine, &cosine);
    to[i] = from[i] + sqrtf(sine * sine + cosine * cosine);
  }
}

}  // namespace

void transform_prepare_cuda() {
  load_kernel(add_one_the_long_way, "Loading the transform kernel");
}

void transform_cuda(DeviceSpan<float const> from, std::uint64_t first_index, DeviceSpan<float> to,
                    std::size_t most_blocks, void* stream) {
  auto const blocks =
      static_cast<unsigned>(std::min((from.size() + transform_threads - 1) / transform_threads, most_blocks));
  launch_kernel<float const*, std::uint64_t, float*, std::uint64_t>(add_one_the_long_way, blocks, transform_threads,
                                                                    stream, "The transform kernel", from.address(),
                                                                    first_index, to.address(), from.size());
}

}  // namespace penstock
