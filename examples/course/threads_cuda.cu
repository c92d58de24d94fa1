// SPDX-License-Identifier: Apache-2.0
// threads.cpp in plain CUDA. nvcc compiles it twice, as trio_cuda.cu.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "check.cuh"
#include "timed_kernel.cuh"

void launch(Ran* ran) {
  last_for<<<1, 1>>>(10'000'000, ran);
  check(cudaGetLastError());
  check(cudaStreamSynchronize(nullptr));  // Null is 0 again: the process's stream, or the thread's own.
}

int main() {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);  // By default a GPU takes work of eight streams independently.
  constexpr int threads = 8;
  Ran* ran = nullptr;  // Pinned memory of the host: kernels can write it, too.
  check(cudaMallocHost(&ran, threads * sizeof(Ran)));
  last_for<<<1, 1>>>(0, ran);  // The first launch loads the kernel.
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());

  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(launch, &ran[i]);
  for (std::thread& thread : all) thread.join();

  // The order of the threads differs from run to run.
  std::sort(ran, ran + threads, [](Ran const& one, Ran const& other) { return one.began < other.began; });
  int in_turn = 0;
  for (int i = 1; i < threads; ++i) in_turn += ran_after(ran[i], ran[i - 1]) ? 1 : 0;
  std::printf("%d of 7 kernels waited for the one before\n", in_turn);
  check(cudaFreeHost(ran));
}
