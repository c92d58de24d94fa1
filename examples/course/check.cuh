// SPDX-License-Identifier: Apache-2.0
// What the plain CUDA programs in this folder do with errors.
#pragma once

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

/// Ends the program if a call of CUDA failed. The exit code is 77 where there is no GPU, which tests take for skipped.
inline void check(cudaError_t result) {
  if (result == cudaSuccess) return;
  bool const no_gpu = result == cudaErrorNoDevice || result == cudaErrorInsufficientDriver;
  std::fprintf(stderr, "%s%s\n", no_gpu ? "This program needs an NVIDIA GPU and its driver: " : "",
               cudaGetErrorString(result));
  std::exit(no_gpu ? 77 : 1);
}
