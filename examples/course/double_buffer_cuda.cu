// SPDX-License-Identifier: Apache-2.0
// double_buffer.cpp in plain CUDA: two streams with a buffer each, and a wait before a buffer is filled again.
#include <cstdio>

#include "check.cuh"

constexpr int buffers = 2, steps = 8, size = 1 << 18, threads = 256;
constexpr std::size_t bytes = size * sizeof(float);

__global__ void twice(float const* input, float* output) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < size) output[i] = 2 * input[i];
}

bool all_are(float value, float const* values) {
  for (int i = 0; i < size; ++i) {
    if (values[i] != value) return false;
  }
  return true;
}

int main() {
  float *input[buffers], *output[buffers], *device_input[buffers], *device_output[buffers];
  cudaStream_t streams[buffers];
  for (int i = 0; i < buffers; ++i) {
    check(cudaMallocHost(&input[i], bytes));
    check(cudaMallocHost(&output[i], bytes));
    check(cudaMalloc(&device_input[i], bytes));
    check(cudaMalloc(&device_output[i], bytes));
    check(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
  }

  bool right = true;
  for (int step = 0; step < steps + buffers; ++step) {
    int const at = step % buffers;
    check(cudaStreamSynchronize(streams[at]));  // The device may still read the input and write the output.
    if (step >= buffers) right = right && all_are(static_cast<float>(2 * (step - buffers)), output[at]);
    if (step >= steps) continue;  // The last rounds only take results.
    for (int i = 0; i < size; ++i) input[at][i] = static_cast<float>(step);
    check(cudaMemcpyAsync(device_input[at], input[at], bytes, cudaMemcpyHostToDevice, streams[at]));
    twice<<<size / threads, threads, 0, streams[at]>>>(device_input[at], device_output[at]);
    check(cudaGetLastError());
    check(cudaMemcpyAsync(output[at], device_output[at], bytes, cudaMemcpyDeviceToHost, streams[at]));
  }
  std::printf("%d steps by %d buffers: %s\n", steps, buffers, right ? "all right" : "wrong");

  for (int i = 0; i < buffers; ++i) {
    check(cudaStreamDestroy(streams[i]));
    check(cudaFree(device_input[i]));
    check(cudaFree(device_output[i]));
    check(cudaFreeHost(input[i]));
    check(cudaFreeHost(output[i]));
  }
  return right ? 0 : 1;
}
