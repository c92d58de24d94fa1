// SPDX-License-Identifier: Apache-2.0
#include "kernels/basic/busy.hpp"
#include "kernels/basic/cuda_bodies.hpp"
#include "kernels/basic/cuda_launch.cuh"

namespace penstock {
namespace {

constexpr unsigned busy_threads = 1024;

/// One clock for the whole GPU, in nanoseconds; it may move in steps of a microsecond.
__device__ unsigned long long now() {
  unsigned long long time = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time)::"memory");
  return time;
}

__device__ unsigned long long* word(std::uint64_t* value) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  return reinterpret_cast<unsigned long long*>(value);
}

__global__ void __launch_bounds__(busy_threads) stay(unsigned long long duration, Stamp* stamp) {
  if (threadIdx.x == 0) {
    unsigned long long const start = now();
    atomicMin(word(&stamp->start), start);
    while (now() - start < duration) {
    }
    atomicMax(word(&stamp->end), now());
  }
  // The others hold their places on the multiprocessor.
  __syncthreads();
}

}  // namespace

void busy_prepare_cuda() {
  load_kernel(stay, "Loading the busy kernel");
}

void busy_cuda(std::chrono::nanoseconds duration, std::uint32_t blocks, Stamp* stamp, void* stream) {
  launch_kernel<unsigned long long, Stamp*>(stay, blocks, busy_threads, stream, "The busy kernel",
                                            static_cast<unsigned long long>(duration.count()), stamp);
}

}  // namespace penstock
