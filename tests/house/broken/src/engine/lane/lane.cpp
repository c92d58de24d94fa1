// SPDX-License-Identifier: Apache-2.0
#include "lane.hpp"

#include <semaphore>
#include <vector>

#include <boost/lockfree/queue.hpp>
#include <cuda_runtime_api.h>
#include <engine/cuda/stream.hpp>

#include "penstock/kernels.hpp"

// A comment may speak of cudaMemcpyAsync() and of sleep_for().
std::binary_semaphore full(0);
void copy(void* to, void const* from) {
  cudaMemcpyAsync(to, from, 1, cudaMemcpyDefault, nullptr);
  cudaDeviceSynchronize();
}
