// SPDX-License-Identifier: Apache-2.0
// ordered_memory.cpp in plain CUDA: cudaMallocAsync and cudaFreeAsync are steps of a stream. cudaFree in their place
// would wait for the device.
#include <cstdio>

#include "check.cuh"

__global__ void twice(float* values) {
  values[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}

int main() {
  constexpr int steps = 4, size = 1 << 20, threads = 256;
  constexpr std::size_t bytes = size * sizeof(float);
  float* host = nullptr;
  cudaStream_t stream;
  check(cudaMallocHost(&host, steps * bytes));
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int i = 0; i < steps * size; ++i) host[i] = 1;

  for (int step = 0; step < steps; ++step) {
    float *values, *const here = host + step * size;
    check(cudaMallocAsync(&values, bytes, stream));
    check(cudaMemcpyAsync(values, here, bytes, cudaMemcpyHostToDevice, stream));
    twice<<<size / threads, threads, 0, stream>>>(values);
    check(cudaGetLastError());
    check(cudaMemcpyAsync(here, values, bytes, cudaMemcpyDeviceToHost, stream));
    check(cudaFreeAsync(values, stream));
    std::printf("step %d had %p\n", step, static_cast<void*>(values));
  }
  check(cudaStreamSynchronize(stream));

  bool right = true;
  for (int i = 0; i < steps * size; ++i) right = right && host[i] == 2;
  std::printf("the results are %s\n", right ? "right" : "wrong");
  check(cudaStreamDestroy(stream));
  check(cudaFreeHost(host));
  return right ? 0 : 1;
}
