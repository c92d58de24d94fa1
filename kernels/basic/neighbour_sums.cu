// SPDX-License-Identifier: Apache-2.0
#include <cooperative_groups.h>

#include "kernels/basic/cuda_bodies.hpp"
#include "kernels/basic/cuda_launch.cuh"

namespace penstock {
namespace {

__device__ void add_neighbours(std::uint32_t const* from, std::uint32_t* to, std::uint64_t count) {
  std::uint64_t const step = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    to[i] = from[i == 0 ? count - 1 : i - 1] + from[i + 1 == count ? 0 : i + 1];
  }
}

__global__ void __launch_bounds__(block_threads)
    neighbours_once(std::uint32_t const* from, std::uint32_t* to, std::uint64_t count) {
  add_neighbours(from, to, count);
}

__global__ void __launch_bounds__(block_threads)
    neighbours_together(std::uint32_t* one, std::uint32_t* other, std::uint64_t count, std::uint32_t rounds) {
  auto const grid = cooperative_groups::this_grid();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    bool const even = round % 2 == 0;
    add_neighbours(even ? one : other, even ? other : one, count);
    grid.sync();
  }
}

int gpu_attribute(cudaDeviceAttr wanted) {
  int device = 0, value = 0;
  check_kernel(cudaGetDevice(&device), "Asking which GPU is current");
  check_kernel(cudaDeviceGetAttribute(&value, wanted, device), "Asking the GPU what it has");
  return value;
}

}  // namespace

void neighbour_sums_prepare_cuda() {
  load_kernel(neighbours_once, "Loading the neighbour sums");
  load_kernel(neighbours_together, "Loading the neighbour sums with a barrier");
}

void neighbour_sums_cuda(DeviceSpan<std::uint32_t const> from, DeviceSpan<std::uint32_t> to, void* stream) {
  auto const blocks = static_cast<unsigned>((to.size() + block_threads - 1) / block_threads);
  launch_kernel<std::uint32_t const*, std::uint32_t*, std::uint64_t>(
      neighbours_once, blocks, block_threads, stream, "The neighbour sums", from.address(), to.address(), to.size());
}

void neighbour_sums_together_cuda(DeviceSpan<std::uint32_t> one, DeviceSpan<std::uint32_t> other, std::uint32_t rounds,
                                  std::uint32_t blocks, void* stream) {
  launch_cooperative_kernel<std::uint32_t*, std::uint32_t*, std::uint64_t, std::uint32_t>(
      neighbours_together, blocks, block_threads, stream, "The neighbour sums with a barrier", one.address(),
      other.address(), one.size(), rounds);
}

std::uint32_t neighbour_sums_at_once_cuda() {
  if (gpu_attribute(cudaDevAttrCooperativeLaunch) == 0) {
    throw Error(ErrorKind::unsupported, "This GPU has no cooperative launches: use a launch a round.");
  }
  int of_each = 0;
  check_kernel(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_each, neighbours_together, block_threads, 0),
               "Asking how many blocks fit");
  return static_cast<std::uint32_t>(of_each * gpu_attribute(cudaDevAttrMultiProcessorCount));
}

}  // namespace penstock
