// SPDX-License-Identifier: Apache-2.0
// grid_barrier.cpp in plain CUDA, by one launch: its blocks meet at a barrier behind each round. All of them must be on
// the GPU at once, since a block that has not begun comes to no barrier; a cooperative launch of more is refused.
#include <cstdio>

#include "check.cuh"
#include <cooperative_groups.h>

__global__ void means_of_neighbours(float* from, float* to, int size, int rounds) {
  auto const grid = cooperative_groups::this_grid();
  int const i = static_cast<int>(grid.thread_rank());
  for (int round = 0; round < rounds; ++round) {
    to[i] = (from[(i + size - 1) % size] + from[(i + 1) % size]) / 2;
    grid.sync();
    float* const written = to;
    to = from;
    from = written;
  }
}

int main() {
  int threads = 256, rounds = 64, blocks_each = 0, multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, means_of_neighbours, threads, 0));
  int const blocks = blocks_each * multiprocessors;
  int size = blocks * threads;
  std::size_t const bytes = size * sizeof(float);
  float *host, *one, *other;
  check(cudaMallocHost(&host, bytes));
  check(cudaMalloc(&one, bytes));
  check(cudaMalloc(&other, bytes));
  for (int i = 0; i < size; ++i) host[i] = i % 2 == 0 ? 1 : 3;
  check(cudaMemcpy(one, host, bytes, cudaMemcpyHostToDevice));

  void* arguments[] = {&one, &other, &size, &rounds};
  auto* const kernel = reinterpret_cast<void*>(means_of_neighbours);
  check(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(threads), arguments, 0, nullptr));
  check(cudaMemcpy(host, one, bytes, cudaMemcpyDeviceToHost));  // The number of rounds is even.
  bool right = true;
  for (int i = 0; i < size; ++i) right = right && host[i] == (i % 2 == 0 ? 1 : 3);
  std::printf("%d rounds by one launch of %d blocks: %s\n", rounds, blocks, right ? "right" : "wrong");

  cudaError_t const refused =
      cudaLaunchCooperativeKernel(kernel, dim3(blocks + 1), dim3(threads), arguments, 0, nullptr);
  std::printf("one block more: %s\n", cudaGetErrorName(refused));
  check(cudaFree(one));
  check(cudaFree(other));
  check(cudaFreeHost(host));
  return right && refused == cudaErrorCooperativeLaunchTooLarge ? 0 : 1;
}
