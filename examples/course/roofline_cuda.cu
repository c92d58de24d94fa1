// SPDX-License-Identifier: Apache-2.0
// roofline.cpp in plain CUDA.
#include <cstdio>
#include <initializer_list>

#include "check.cuh"

__global__ void multiply_add(float* values, unsigned rounds) {
  std::size_t const i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  float value = values[i];
  for (unsigned k = 0; k < rounds; ++k) value = value * 0.5F + 1;
  values[i] = value;
}

int main() {
  constexpr int size = 1 << 26, threads = 256;  // No cache holds so much.
  float* values = nullptr;
  cudaEvent_t start, end;
  check(cudaMalloc(&values, size * sizeof(float)));
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&end));
  multiply_add<<<size / threads, threads>>>(values, 1);  // The first launch loads the kernel; it is not counted.
  for (unsigned const rounds : {1U, 4U, 16U, 64U, 256U, 1024U}) {
    check(cudaEventRecord(start));
    multiply_add<<<size / threads, threads>>>(values, rounds);
    check(cudaGetLastError());
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, end));
    std::printf("%g operations a byte: %.4f ms\n", 2.0 * rounds / 8, milliseconds);
  }
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(end));
  check(cudaFree(values));
}
