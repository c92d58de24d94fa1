// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/basic/cuda_bodies.hpp"
#include "kernels/basic/cuda_launch.cuh"

namespace penstock {
namespace {

/// One thread for each byte value, so that each thread clears and adds up one count.
constexpr unsigned count_threads = block_threads;
/// This gives every multiprocessor of today's GPUs several blocks; with more bytes a block takes more of them.
constexpr std::size_t enough_blocks = 1024;

/// Each block counts in its shared memory first.
__global__ void __launch_bounds__(count_threads)
    count(unsigned char const* input, std::uint64_t bytes, unsigned long long* counts) {
  __shared__ unsigned own[count_threads];
  own[threadIdx.x] = 0;
  __syncthreads();
  std::uint64_t const stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < bytes; i += stride) {
    atomicAdd(&own[input[i]], 1U);
  }
  __syncthreads();
  if (own[threadIdx.x] != 0) atomicAdd(&counts[threadIdx.x], static_cast<unsigned long long>(own[threadIdx.x]));
}

}  // namespace

void count_bytes_prepare_cuda() {
  load_kernel(count, "Loading the count_bytes kernel");
}

void count_bytes_cuda(DeviceSpan<std::byte const> input, DeviceSpan<std::uint64_t> counts, std::size_t most_blocks,
                      void* stream) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  // A block counts at most 2^32 bytes of a value, which allows a tile of 4 TiB.
  std::size_t const blocks =
      std::min({(input.size() + 16 * count_threads - 1) / (16 * count_threads), enough_blocks, most_blocks});
  launch_kernel<unsigned char const*, std::uint64_t, unsigned long long*>(
      count, static_cast<unsigned>(blocks), count_threads, stream, "The count_bytes kernel",
      reinterpret_cast<unsigned char const*>(input.address()), input.size(),
      reinterpret_cast<unsigned long long*>(counts.address()));
}

}  // namespace penstock
