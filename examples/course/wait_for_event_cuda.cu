// SPDX-License-Identifier: Apache-2.0
// wait_for_event.cpp in plain CUDA, with the event: the kernel's stream waits for the copy, and the host for neither.
#include <cstdio>

#include "check.cuh"

__global__ void twice(float const* values, float* results, int size) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < size) results[i] = 2 * values[i];
}

int main() {
  constexpr int size = 1 << 20, threads = 256, blocks = (size + threads - 1) / threads;
  constexpr std::size_t bytes = size * sizeof(float);
  float *host, *values, *results;
  check(cudaMallocHost(&host, bytes));
  check(cudaMalloc(&values, bytes));
  check(cudaMalloc(&results, bytes));
  for (int i = 0; i < size; ++i) host[i] = 1;
  cudaStream_t copying, computing;
  check(cudaStreamCreateWithFlags(&copying, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&computing, cudaStreamNonBlocking));
  cudaEvent_t there;
  check(cudaEventCreateWithFlags(&there, cudaEventDisableTiming));  // An event that only orders work is cheaper.

  check(cudaMemcpyAsync(values, host, bytes, cudaMemcpyHostToDevice, copying));
  check(cudaEventRecord(there, copying));
  check(cudaStreamWaitEvent(computing, there));
  twice<<<blocks, threads, 0, computing>>>(values, results, size);
  check(cudaGetLastError());
  check(cudaMemcpyAsync(host, results, bytes, cudaMemcpyDeviceToHost, computing));
  check(cudaStreamSynchronize(computing));

  bool right = true;
  for (int i = 0; i < size; ++i) right = right && host[i] == 2;
  std::printf("with the event: 1 + 1 = %.0f: %s\n", host[0], right ? "right" : "wrong");

  check(cudaEventDestroy(there));
  check(cudaStreamDestroy(copying));
  check(cudaStreamDestroy(computing));
  check(cudaFree(values));
  check(cudaFree(results));
  check(cudaFreeHost(host));
  return right ? 0 : 1;
}
