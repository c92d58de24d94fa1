// SPDX-License-Identifier: Apache-2.0
// stray_launch.cpp in plain CUDA. nvcc compiles it twice, as trio_cuda.cu.
#include <cstdio>
#include <cstdlib>

#include "check.cuh"
#include "timed_kernel.cuh"

int main() {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);  // By default a GPU takes work of eight streams independently.
  constexpr int streams = 8;
  Ran* ran = nullptr;
  check(cudaMallocHost(&ran, (streams + 1) * sizeof(Ran)));
  last_for<<<1, 1>>>(0, ran);  // The first launch loads the kernel.
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());

  cudaStream_t own[streams];
  for (cudaStream_t& stream : own) check(cudaStreamCreate(&stream));
  for (int i = 0; i < streams; ++i) {
    last_for<<<1, 1, 0, own[i]>>>(10'000'000, &ran[i]);
    last_for<<<1, 1>>>(0, &ran[streams]);  // It names no stream.
    check(cudaGetLastError());
  }
  check(cudaDeviceSynchronize());

  int in_turn = 0;
  for (int i = 1; i < streams; ++i) in_turn += ran_after(ran[i], ran[i - 1]) ? 1 : 0;
  std::printf("%d of 7 kernels waited for the one before\n", in_turn);

  for (cudaStream_t const stream : own) check(cudaStreamDestroy(stream));
  check(cudaFreeHost(ran));
}
