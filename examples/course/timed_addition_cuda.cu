// SPDX-License-Identifier: Apache-2.0
// timed_addition.cpp in plain CUDA. The copies name no stream: they wait for the device, and for the host they are done
// when they return.
#include <cstdio>

#include "check.cuh"

__global__ void add(float const* a, float const* b, float* c, int size) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < size) c[i] = a[i] + b[i];
}

int main() {
  constexpr int size = 1 << 22, threads = 256, blocks = (size + threads - 1) / threads;
  constexpr std::size_t bytes = size * sizeof(float);
  float *host[3], *device[3];  // a, b and c
  for (int i = 0; i < 3; ++i) {
    check(cudaMallocHost(&host[i], bytes));
    check(cudaMalloc(&device[i], bytes));
    for (int k = 0; k < size; ++k) host[i][k] = i < 2 ? static_cast<float>(i + 1) : 0;
  }
  cudaEvent_t start, end;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&end));
  check(cudaMemcpy(device[0], host[0], bytes, cudaMemcpyHostToDevice));
  check(cudaMemcpy(device[1], host[1], bytes, cudaMemcpyHostToDevice));
  add<<<blocks, threads>>>(device[0], device[1], device[2], size);  // The first launch also loads the kernel.

  check(cudaEventRecord(start));
  add<<<blocks, threads>>>(device[0], device[1], device[2], size);
  check(cudaEventRecord(end));
  check(cudaGetLastError());
  check(cudaEventSynchronize(end));
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start, end));
  std::printf("the kernel took %.3f ms\n", milliseconds);

  check(cudaMemcpy(host[2], device[2], bytes, cudaMemcpyDeviceToHost));
  bool right = true;
  for (int k = 0; k < size; ++k) right = right && host[2][k] == 3;
  std::printf("c[0] = %.1f: %s\n", host[2][0], right ? "right" : "wrong");

  check(cudaEventDestroy(start));
  check(cudaEventDestroy(end));
  for (int i = 0; i < 3; ++i) {
    check(cudaFree(device[i]));
    check(cudaFreeHost(host[i]));
  }
  return right ? 0 : 1;
}
