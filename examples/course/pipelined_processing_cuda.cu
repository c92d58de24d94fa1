// SPDX-License-Identifier: Apache-2.0
// pipelined_processing.cpp in plain CUDA. Its streams are blocking ones and its events are in the legacy default
// stream, which is serialised with them: so the second event is behind all streams. Per-thread it would measure
// nothing.
#include <cstdio>

#include "check.cuh"

constexpr int chunks = 4, chunk = 1 << 20, threads = 256;
constexpr std::size_t chunk_bytes = chunk * sizeof(float);

__global__ void square(float* values, int size) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < size) values[i] *= values[i];
}

/// Squares threes in chunks by the first `count` streams, and returns the milliseconds that it took.
float run(float* host, float* device, cudaStream_t const* streams, int count, cudaEvent_t start, cudaEvent_t end) {
  for (int i = 0; i < chunks * chunk; ++i) host[i] = 3;
  check(cudaEventRecord(start, nullptr));
  for (int i = 0; i < chunks; ++i) {
    float *const here = host + i * chunk, *const there = device + i * chunk;
    check(cudaMemcpyAsync(there, here, chunk_bytes, cudaMemcpyHostToDevice, streams[i % count]));
    square<<<chunk / threads, threads, 0, streams[i % count]>>>(there, chunk);
    check(cudaGetLastError());
    check(cudaMemcpyAsync(here, there, chunk_bytes, cudaMemcpyDeviceToHost, streams[i % count]));
  }
  check(cudaEventRecord(end, nullptr));
  check(cudaEventSynchronize(end));
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start, end));
  return milliseconds;
}

int main() {
  float *host, *device;
  cudaStream_t streams[chunks];
  cudaEvent_t start, end;
  check(cudaMallocHost(&host, chunks * chunk_bytes));
  check(cudaMalloc(&device, chunks * chunk_bytes));
  for (cudaStream_t& stream : streams) check(cudaStreamCreate(&stream));
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&end));
  run(host, device, streams, 1, start, end);  // The first run loads the kernel; it is not counted.
  std::printf("one stream: %.3f ms\n", run(host, device, streams, 1, start, end));
  std::printf("four streams: %.3f ms\n", run(host, device, streams, chunks, start, end));
  bool right = true;
  for (int i = 0; i < chunks * chunk; ++i) right = right && host[i] == 9;
  std::printf("values[0] = %.1f: %s\n", host[0], right ? "right" : "wrong");

  check(cudaEventDestroy(start));
  check(cudaEventDestroy(end));
  for (cudaStream_t const stream : streams) check(cudaStreamDestroy(stream));
  check(cudaFree(device));
  check(cudaFreeHost(host));
  return right ? 0 : 1;
}
