// SPDX-License-Identifier: Apache-2.0
#include "ordered_sums.hpp"
#include <cuda_runtime_api.h>

namespace {

constexpr unsigned block = 256;

/// `OrderedSums` by plain arrays, as device code has them.
struct Sums {
  unsigned long long next[keys], sum[keys], out_of_order;
};
static_assert(sizeof(Sums) == sizeof(OrderedSums));

__global__ void add_kernel(Sums* sums, std::uint32_t const* numbers, std::size_t count, std::uint64_t key,
                           std::uint64_t sequence) {
  __shared__ unsigned long long all;
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  unsigned long long mine = 0;
  for (std::size_t i = threadIdx.x; i < count; i += block) mine += numbers[i];
  atomicAdd(&all, mine);
  __syncthreads();
  if (threadIdx.x != 0 || sums == nullptr) return;
  if (sums->next[key] > sequence) ++sums->out_of_order;
  sums->next[key] = sequence + 1;
  sums->sum[key] += all;
}

}  // namespace

bool add_in_order(OrderedSums* sums, std::uint32_t const* numbers, std::size_t count, std::uint64_t key,
                  std::uint64_t sequence, void* stream) {
  add_kernel<<<1, block, 0, static_cast<cudaStream_t>(stream)>>>(reinterpret_cast<Sums*>(sums), numbers, count, key,
                                                                 sequence);
  return cudaPeekAtLastError() == cudaSuccess;
}

bool clear(OrderedSums* sums, void* stream) {
  return cudaMemsetAsync(sums, 0, sizeof(OrderedSums), static_cast<cudaStream_t>(stream)) == cudaSuccess;
}

std::uint64_t out_of_order(OrderedSums const* sums) {
  OrderedSums found;
  bool const well = cudaMemcpy(&found, sums, sizeof found, cudaMemcpyDeviceToHost) == cudaSuccess;
  return well ? found.out_of_order : 1;
}
