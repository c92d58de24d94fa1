// SPDX-License-Identifier: Apache-2.0
// two_stream_overlap.cpp in plain CUDA: two streams, each with a copy, a kernel and a copy.
#include <cstdio>

#include "check.cuh"

__global__ void twice(float* values, int size) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < size) values[i] *= 2;
}

int main() {
  constexpr int size = 1 << 20, threads = 256, blocks = (size + threads - 1) / threads;
  constexpr std::size_t bytes = size * sizeof(float);
  float *host[2], *device[2];
  cudaStream_t streams[2];
  for (int i = 0; i < 2; ++i) {
    check(cudaMallocHost(&host[i], bytes));  // Copies of other memory would not be asynchronous.
    check(cudaMalloc(&device[i], bytes));
    check(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    for (int k = 0; k < size; ++k) host[i][k] = static_cast<float>(i + 1);
  }

  for (int i = 0; i < 2; ++i) {
    check(cudaMemcpyAsync(device[i], host[i], bytes, cudaMemcpyHostToDevice, streams[i]));
    twice<<<blocks, threads, 0, streams[i]>>>(device[i], size);
    check(cudaGetLastError());  // A launch returns nothing; this is how it reports that it was refused.
    check(cudaMemcpyAsync(host[i], device[i], bytes, cudaMemcpyDeviceToHost, streams[i]));
  }
  for (cudaStream_t const stream : streams) check(cudaStreamSynchronize(stream));

  bool right = true;
  for (int k = 0; k < size; ++k) right = right && host[0][k] == 2 && host[1][k] == 4;
  std::printf("a[0] = %.1f, b[0] = %.1f: %s\n", host[0][0], host[1][0], right ? "right" : "wrong");

  for (int i = 0; i < 2; ++i) {
    check(cudaStreamDestroy(streams[i]));
    check(cudaFree(device[i]));
    check(cudaFreeHost(host[i]));
  }
  return right ? 0 : 1;
}
