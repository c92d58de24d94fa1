// SPDX-License-Identifier: Apache-2.0
// trio.cpp in plain CUDA. nvcc compiles this source twice: `trio_cuda` as it does by default, and
// `trio_cuda_per_thread` with --default-stream per-thread.
#include <cstdio>

#include "check.cuh"
#include "timed_kernel.cuh"

char const* place(Ran const& one, Ran const& other) {
  return ran_after(one, other) ? "after" : "beside";
}

void run_trio(unsigned flags, char const* name, Ran* ran) {
  constexpr unsigned long long duration = 10'000'000;
  cudaStream_t s;
  check(cudaStreamCreateWithFlags(&s, flags));
  last_for<<<1, 1, 0, s>>>(duration, &ran[0]);
  last_for<<<1, 1, 0, 0>>>(duration, &ran[1]);  // A launch that names no stream, <<<1, 1>>>, means the same.
  last_for<<<1, 1, 0, s>>>(duration, &ran[2]);
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
  std::printf("%s stream: 0 ran %s the first kernel, and the last one %s 0\n", name, place(ran[1], ran[0]),
              place(ran[2], ran[1]));
  check(cudaStreamDestroy(s));
}

int main() {
  Ran* ran = nullptr;  // Pinned memory of the host: kernels can write it, too.
  check(cudaMallocHost(&ran, 3 * sizeof(Ran)));
  last_for<<<1, 1>>>(0, ran);  // The first launch loads the kernel.
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
  run_trio(cudaStreamDefault, "blocking", ran);
  run_trio(cudaStreamNonBlocking, "non-blocking", ran);
  check(cudaFreeHost(ran));
}
