// SPDX-License-Identifier: Apache-2.0
// One reason why a kernel stays below the roofline: few warps are on a multiprocessor at once (low occupancy), so it
// has nothing to do while they wait. Either shared memory has room for one block only, or the registers have.
#include <cstdio>
#include <initializer_list>
#include <vector>

#include "fastest.cuh"

constexpr unsigned size = 1U << 27, threads = 256, warp = 32;

/// Each round waits for the result of the one before. Without rounds it copies, and with many the results are 2.
/// A branch that no thread takes needs `spare` registers, which each thread has all the same.
template <unsigned spare>
__global__ void multiply_add(float const* from, float* to, unsigned rounds) {
  unsigned const i = blockIdx.x * threads + threadIdx.x;
  float value = from[i];
  for (unsigned k = 0; k < rounds; ++k) value = value * 0.5F + 1;
  if (spare > 1 && rounds == ~0U) {
    float all[spare];
#pragma unroll
    for (unsigned k = 0; k < spare; ++k) all[k] = from[i ^ k];
    for (unsigned turn = 0; turn < rounds; ++turn) {
#pragma unroll
      for (unsigned k = 0; k < spare; ++k) all[k] = all[k] * all[(k + 1) % spare] + value;
    }
#pragma unroll
    for (unsigned k = 0; k < spare; ++k) value += all[k];
  }
  to[i] = value;
}

struct Cause {
  char const* name;
  void (*kernel)(float const*, float*, unsigned);
  int shared;  ///< Bytes of shared memory that each block takes.
};

int main() {
  int most_shared = 0, most_threads = 0, blocks = 0;
  check(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  check(cudaDeviceGetAttribute(&most_threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
  check(cudaFuncSetAttribute(multiply_add<1>, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared));
  float *from, *to;
  for (float** const memory : {&from, &to}) check(cudaMalloc(memory, size * sizeof(float)));
  std::vector<float> host(size);
  for (unsigned i = 0; i < size; ++i) host[i] = static_cast<float>(i % 32);
  check(cudaMemcpy(from, host.data(), size * sizeof(float), cudaMemcpyHostToDevice));
  bool right = true;
  std::printf("kernel       few of           warps        ms           rate   times slower\n");
  for (unsigned const rounds : {0U, 256U}) {
    float first = 0;
    for (auto const [cause, kernel, shared] : {Cause{"-", multiply_add<1>, 0},
                                               {"shared memory", multiply_add<1>, most_shared},
                                               {"registers", multiply_add<192>, 0}}) {
      check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared));
      check(cudaMemset(to, 0, size * sizeof(float)));  // So nothing is left of the launches before.
      float const time = fastest([&] { kernel<<<size / threads, threads, shared>>>(from, to, rounds); });
      if (first == 0) first = time;
      double const work = size * (rounds == 0 ? 2.0 * sizeof(float) : 2.0 * rounds);
      std::printf("%-12s %-13s %2u of %2u %9.3f %6.2f %7s %14.1f\n", rounds == 0 ? "copy" : "multiply-add", cause,
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
