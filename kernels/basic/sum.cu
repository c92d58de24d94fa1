// SPDX-License-Identifier: Apache-2.0
#include "kernels/basic/cuda_bodies.hpp"
#include "kernels/basic/cuda_launch.cuh"

namespace penstock {
namespace {

constexpr unsigned sum_threads = 256;

__global__ void __launch_bounds__(sum_threads)
    add(float const* one, float const* other, float* to, std::uint64_t count) {
  std::uint64_t const i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) to[i] = one[i] + other[i];
}

}  // namespace

void sum_prepare_cuda() {
  load_kernel(add, "Loading the sum kernel");
}

void sum_cuda(DeviceSpan<float const> one, DeviceSpan<float const> other, DeviceSpan<float> to, void* stream) {
  auto const blocks = static_cast<unsigned>((to.size() + sum_threads - 1) / sum_threads);
  launch_kernel<float const*, float const*, float*, std::uint64_t>(
      add, blocks, sum_threads, stream, "The sum kernel", one.address(), other.address(), to.address(), to.size());
}

}  // namespace penstock
