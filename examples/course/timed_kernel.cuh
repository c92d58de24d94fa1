// SPDX-License-Identifier: Apache-2.0
// timed_kernel.hpp in plain CUDA: a kernel that lasts as long as it is told, and notes when it ran.
#pragma once

/// Nanoseconds at which a kernel began and ended, by a clock that all kernels of the GPU share.
struct Ran {
  unsigned long long began, ended;
};

__device__ inline unsigned long long global_time() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

__global__ void last_for(unsigned long long nanoseconds, Ran* ran) {
  ran->began = global_time();
  while (global_time() < ran->began + nanoseconds) {
  }
  ran->ended = global_time();
}

/// True if it began when the other one had ended; false if the two ran at the same time, at least in part.
inline bool ran_after(Ran const& one, Ran const& other) {
  return one.began >= other.ended;
}
