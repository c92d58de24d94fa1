// SPDX-License-Identifier: Apache-2.0
// The sequential program that texts on CUDA streams begin with: one copy in, one kernel, one copy out, each in the
// simplest form.
#include <cstddef>

#include "textbook.hpp"
#include <cuda_runtime_api.h>

namespace {

__global__ void add_one_the_hard_way(float* to, float const* from, unsigned count) {
  unsigned const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float const x = static_cast<float>(i);
  float const s = sinf(x), c = cosf(x);
  to[i] = from[i] + sqrtf(s * s + c * c);
}

}  // namespace

bool textbook_transform(float* host_to, float const* host_from, float* to, float const* from, unsigned count) {
  std::size_t const bytes = count * sizeof(float);
  bool well = cudaMemcpy(const_cast<float*>(from), host_from, bytes, cudaMemcpyHostToDevice) == cudaSuccess;
  add_one_the_hard_way<<<(count + 255) / 256, 256>>>(to, from, count);
  well = cudaGetLastError() == cudaSuccess && well;
  return cudaMemcpy(host_to, to, bytes, cudaMemcpyDeviceToHost) == cudaSuccess && well;
}
