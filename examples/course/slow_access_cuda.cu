// SPDX-License-Identifier: Apache-2.0
// Two reasons why a kernel stays below the roofline: the threads of a warp read device memory at scattered places, or
// they meet at one bank of shared memory.
#include <cstdio>
#include <initializer_list>
#include <vector>

#include "fastest.cuh"

constexpr unsigned size = 1U << 27, threads = 256, rounds = 256;

/// Copies each float once: `step` is odd, and `size` is a power of two. Floats of neighbouring threads are `step`
/// apart.
__global__ void copy(float const* from, float* to, unsigned step) {
  unsigned const i = (blockIdx.x * threads + threadIdx.x) * step % size;
  to[i] = from[i];
}

/// The mean of each of 32 rows in shared memory. Thread i of a warp reads row i, and rows begin `step` words apart.
__global__ void mean_of_row(float const* from, float* to, unsigned step) {
  __shared__ float rows[32 * 33];
  for (unsigned i = threadIdx.x; i < 32 * 32; i += threads) rows[i / 32 * step + i % 32] = from[i / 32];
  __syncthreads();
  float const volatile* const row = rows + threadIdx.x % 32 * step;  // Volatile, so that each round reads it.
  float sum = 0;
  for (unsigned i = 0; i < rounds; ++i) sum += row[i % 32];
  to[blockIdx.x * threads + threadIdx.x] = sum / rounds;
}

int main() {
  float *from, *to;
  for (float** const memory : {&from, &to}) check(cudaMalloc(memory, size * sizeof(float)));
  std::vector<float> host(size);
  for (unsigned i = 0; i < size; ++i) host[i] = static_cast<float>(i % 32);
  check(cudaMemcpy(from, host.data(), size * sizeof(float), cudaMemcpyHostToDevice));
  bool right = true;
  auto const compare = [&](char const* memory, auto* kernel, unsigned count, double bytes_each, auto steps) {
    float first = 0;
    for (unsigned const step : steps) {
      check(cudaMemset(to, 0, size * sizeof(float)));  // So nothing is left of the other step.
      float const time = fastest([&] { kernel<<<count / threads, threads>>>(from, to, step); });
      if (first == 0) first = time;
      std::printf("%s %7u %9.3f %7.2f %14.1f\n", memory, step, time, count * bytes_each / time / 1e9, time / first);
      check(cudaMemcpy(host.data(), to, count * sizeof(float), cudaMemcpyDeviceToHost));
      for (unsigned i = 0; i < count; ++i) right = right && host[i] == static_cast<float>(i % 32);
    }
  };
  std::printf("memory           step        ms    TB/s   times slower\n");
  compare("device memory", copy, size, 2 * sizeof(float), std::initializer_list<unsigned>{1, 33});
  compare("shared memory", mean_of_row, size / 16, rounds * sizeof(float), std::initializer_list<unsigned>{33, 32});
  std::printf("the results are %s\n", right ? "right" : "wrong");
  for (float* const memory : {from, to}) check(cudaFree(memory));
  return right ? 0 : 1;
}
