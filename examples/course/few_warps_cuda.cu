// SPDX-License-Identifier: Apache-2.0
// One reason why a kernel stays below the roofline: few warps are on a multiprocessor at once (low occupancy), so it
// has nothing to do while they wait. Here shared memory has room for one block only; registers can be as scarce.
#include <cstdio>
#include <initializer_list>
#include <vector>

#include "fastest.cuh"

constexpr unsigned size = 1U << 27, threads = 256, warp = 32;

/// Each round waits for the result of the one before. Without rounds it copies, and with many the results are 2.
__global__ void multiply_add(float const* from, float* to, unsigned rounds) {
  unsigned const i = blockIdx.x * threads + threadIdx.x;
  float value = from[i];
  for (unsigned k = 0; k < rounds; ++k) value = value * 0.5F + 1;
  to[i] = value;
}

int main() {
  int most_shared = 0, most_threads = 0, blocks = 0;
  check(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  check(cudaDeviceGetAttribute(&most_threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
  check(cudaFuncSetAttribute(multiply_add, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared));
  float *from, *to;
  for (float** const memory : {&from, &to}) check(cudaMalloc(memory, size * sizeof(float)));
  std::vector<float> host(size);
  for (unsigned i = 0; i < size; ++i) host[i] = static_cast<float>(i % 32);
  check(cudaMemcpy(from, host.data(), size * sizeof(float), cudaMemcpyHostToDevice));
  bool right = true;
  std::printf("kernel           warps        ms           rate   times slower\n");
  for (unsigned const rounds : {0U, 256U}) {
    float first = 0;
    for (int const shared : {0, most_shared}) {
      check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, multiply_add, threads, shared));
      check(cudaMemset(to, 0, size * sizeof(float)));  // So nothing is left of the launches before.
      float const time = fastest([&] { multiply_add<<<size / threads, threads, shared>>>(from, to, rounds); });
      if (first == 0) first = time;
      double const work = size * (rounds == 0 ? 2.0 * sizeof(float) : 2.0 * rounds);
      std::printf("%-12s %3u of %2u %9.3f %6.2f %7s %14.1f\n", rounds == 0 ? "copy" : "multiply-add",
                  blocks * threads / warp, most_threads / warp, time, work / time / 1e9,
                  rounds == 0 ? "TB/s" : "TFLOP/s", time / first);
      check(cudaMemcpy(host.data(), to, size * sizeof(float), cudaMemcpyDeviceToHost));
      for (unsigned i = 0; i < size; ++i) right = right && host[i] == (rounds == 0 ? i % 32 : 2);
    }
  }
  std::printf("the results are %s\n", right ? "right" : "wrong");
  for (float* const memory : {from, to}) check(cudaFree(memory));
  return right ? 0 : 1;
}
