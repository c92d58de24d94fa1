// SPDX-License-Identifier: Apache-2.0
// late_error.cpp in plain CUDA. A launch that is refused is reported by cudaGetLastError, a kernel that fails by the
// first call that waits for it. After that each call of this process fails, and only a new process has the GPU again.
#include <cstdio>

#include "check.cuh"

__global__ void write(int* where) {
  *where = 1;
}

int main() {
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

  write<<<1, 2048, 0, stream>>>(nullptr);  // No block has so many threads, so this one never runs.
  std::printf("a launch that is too large: %s\n", cudaGetErrorName(cudaGetLastError()));

  write<<<1, 1, 0, stream>>>(nullptr);
  std::printf("a launch whose kernel will fail: %s\n", cudaGetErrorName(cudaGetLastError()));
  cudaError_t const waited = cudaStreamSynchronize(stream);
  std::printf("the wait: %s\n", cudaGetErrorName(waited));
  cudaError_t const later = cudaStreamCreate(&stream);
  std::printf("a call that has nothing to do with it: %s\n", cudaGetErrorName(later));
  return waited == cudaErrorIllegalAddress && later == waited ? 0 : 1;
}
