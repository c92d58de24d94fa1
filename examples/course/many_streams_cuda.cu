// SPDX-License-Identifier: Apache-2.0
// many_streams.cpp in plain CUDA: one task over 1 and over 4 streams, 100 runs to warm up and 1,000 that count.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "check.cuh"

constexpr int floats = 1 << 25, threads = 256, most_streams = 4, warm_up = 100, runs = 1000;

__global__ void add_one_the_long_way(float const* a, float* b, int first) {
  int const i = first + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  float const s = sinf(static_cast<float>(i)), c = cosf(static_cast<float>(i));
  b[i] = a[i] + sqrtf(s * s + c * c);
}

void run(float const* input, float* output, float* from, float* to, cudaStream_t const* streams, int count) {
  int const size = floats / count;
  std::size_t const bytes = size * sizeof(float);
  for (int i = 0; i < count; ++i) {
    int const first = i * size;
    check(cudaMemcpyAsync(from + first, input + first, bytes, cudaMemcpyHostToDevice, streams[i]));
    add_one_the_long_way<<<size / threads, threads, 0, streams[i]>>>(from, to, first);
    check(cudaGetLastError());
    check(cudaMemcpyAsync(output + first, to + first, bytes, cudaMemcpyDeviceToHost, streams[i]));
  }
}

int main() {
  float *input, *output, *from, *to;
  check(cudaMallocHost(&input, floats * sizeof(float)));
  check(cudaMallocHost(&output, floats * sizeof(float)));
  check(cudaMalloc(&from, floats * sizeof(float)));
  check(cudaMalloc(&to, floats * sizeof(float)));
  std::fill_n(input, floats, 0.0F);
  cudaStream_t streams[most_streams];
  for (cudaStream_t& stream : streams) check(cudaStreamCreate(&stream));
  cudaEvent_t start, end;
  for (cudaEvent_t* const event : {&start, &end}) check(cudaEventCreate(event));
  float largest_error = 0;
  for (int const count : {1, most_streams}) {
    std::fill_n(output, floats, 0.0F);  // So nothing is left of the other way.
    for (int i = 0; i < warm_up; ++i) run(input, output, from, to, streams, count);
    check(cudaEventRecord(start, nullptr));  // This stream, the legacy one, is serialised with the four.
    for (int i = 0; i < runs; ++i) run(input, output, from, to, streams, count);
    check(cudaEventRecord(end, nullptr));
    check(cudaEventSynchronize(end));
    float time = 0;
    check(cudaEventElapsedTime(&time, start, end));
    std::printf("streams: %d, %.5f ms a run (%d to warm up, %d counted)\n", count, time / runs, warm_up, runs);
    for (int i = 0; i < floats; ++i) largest_error = std::max(largest_error, std::abs(output[i] - 1));
  }
  std::printf("largest error: %g\n", largest_error);
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(end));
  for (cudaStream_t const stream : streams) check(cudaStreamDestroy(stream));
  for (float* const memory : {from, to}) check(cudaFree(memory));
  for (float* const memory : {input, output}) check(cudaFreeHost(memory));
  return largest_error < 1e-6F ? 0 : 1;
}
