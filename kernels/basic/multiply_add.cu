// SPDX-License-Identifier: Apache-2.0
#include "kernels/basic/cuda_bodies.hpp"
#include "kernels/basic/cuda_launch.cuh"

namespace penstock {
namespace {

constexpr unsigned rounds_threads = 256;

__global__ void __launch_bounds__(rounds_threads)
    add_rounds(float const* from, std::uint32_t rounds, float* to, std::uint64_t count, float factor, float addend) {
  std::uint64_t const i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float x = from[i];
#pragma unroll 16
  for (std::uint32_t round = 0; round < rounds; ++round) x = fmaf(x, factor, addend);
  to[i] = x;
}

}  // namespace

void multiply_add_prepare_cuda() {
  load_kernel(add_rounds, "Loading the multiply-add kernel");
}

void multiply_add_cuda(DeviceSpan<float const> from, std::uint32_t rounds, DeviceSpan<float> to, float factor,
                       float addend, void* stream) {
  auto const blocks = static_cast<unsigned>((from.size() + rounds_threads - 1) / rounds_threads);
  launch_kernel<float const*, std::uint32_t, float*, std::uint64_t, float, float>(
      add_rounds, blocks, rounds_threads, stream, "The multiply-add kernel", from.address(), rounds, to.address(),
      from.size(), factor, addend);
}

}  // namespace penstock
