// SPDX-License-Identifier: Apache-2.0
// three_inputs.cpp in plain CUDA. One kernel needs all three inputs, so it waits for both events.
#include <cstdio>

#include "check.cuh"

__global__ void add(float const* a, float const* b, float* c, int size) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < size) c[i] += a[i] + b[i];
}

int main() {
  constexpr int inputs = 3, size = 1 << 20, threads = 256;
  constexpr std::size_t bytes = size * sizeof(float);
  constexpr float values[inputs] = {1, 20, 300};
  float *host[inputs], *device[inputs];
  cudaStream_t streams[inputs];
  cudaEvent_t there[inputs];
  for (int i = 0; i < inputs; ++i) {
    check(cudaMallocHost(&host[i], bytes));
    check(cudaMalloc(&device[i], bytes));
    check(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    check(cudaEventCreateWithFlags(&there[i], cudaEventDisableTiming));
    for (int k = 0; k < size; ++k) host[i][k] = values[i];
  }

  cudaStream_t const third = streams[2];
  for (int i = 0; i < inputs; ++i) {
    check(cudaMemcpyAsync(device[i], host[i], bytes, cudaMemcpyHostToDevice, streams[i]));
    check(cudaEventRecord(there[i], streams[i]));
    if (streams[i] != third) check(cudaStreamWaitEvent(third, there[i]));
  }
  add<<<size / threads, threads, 0, third>>>(device[0], device[1], device[2], size);
  check(cudaGetLastError());
  check(cudaMemcpyAsync(host[2], device[2], bytes, cudaMemcpyDeviceToHost, third));
  check(cudaStreamSynchronize(third));

  bool right = true;
  for (int k = 0; k < size; ++k) right = right && host[2][k] == 321;
  std::printf("a + b + c = %.0f: %s\n", host[2][0], right ? "right" : "wrong");

  for (int i = 0; i < inputs; ++i) {
    check(cudaStreamDestroy(streams[i]));
    check(cudaEventDestroy(there[i]));
    check(cudaFree(device[i]));
    check(cudaFreeHost(host[i]));
  }
  return right ? 0 : 1;
}
