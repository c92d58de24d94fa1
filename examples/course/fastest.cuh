// SPDX-License-Identifier: Apache-2.0
// How the plain CUDA programs that compare kernels take their time.
#pragma once

#include <algorithm>
#include <limits>

#include "check.cuh"

/// Milliseconds of the shortest of five launches. One before them, which loads the kernel, does not count.
template <typename Launch>
float fastest(Launch launch) {
  float shortest = std::numeric_limits<float>::infinity();
  cudaEvent_t start, end;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&end));
  for (int run = 0; run <= 5; ++run) {
    check(cudaEventRecord(start));
    launch();
    check(cudaGetLastError());
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, end));
    if (run > 0) shortest = std::min(shortest, milliseconds);
  }
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(end));
  return shortest;
}
