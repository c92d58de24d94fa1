// SPDX-License-Identifier: Apache-2.0
#include "kernels/basic/cuda_bodies.hpp"
#include "kernels/basic/cuda_launch.cuh"

namespace penstock {
namespace {

/// A warp reads 32 words of a row side by side; the warps of a block share the rows.
constexpr unsigned row_words = 32, row_warps = 8;

__global__ void __launch_bounds__(row_words* row_warps)
    add_rows(std::uint32_t const* rows, std::uint64_t count, std::uint64_t words, std::uint32_t const* mask,
             std::uint64_t* sums) {
  __shared__ std::uint64_t parts[row_warps][row_words];
  unsigned const lane = threadIdx.x % row_words, warp_number = threadIdx.x / row_words;
  std::uint64_t const j = static_cast<std::uint64_t>(blockIdx.x) * row_words + lane;
  std::uint64_t sum = 0;
  for (std::uint64_t k = warp_number; j < words && k < count; k += row_warps) {
    if ((mask[k / 32] >> (k % 32) & 1U) != 0) sum += rows[k * words + j];
  }
  parts[warp_number][lane] = sum;
  __syncthreads();
  if (warp_number != 0 || j >= words) return;
  for (unsigned other = 1; other < row_warps; ++other) sum += parts[other][lane];
  sums[j] = sum;
}

}  // namespace

void sum_present_rows_prepare_cuda() {
  load_kernel(add_rows, "Loading the sums of rows");
}

void sum_present_rows_cuda(DeviceSpan<std::uint32_t const> rows, DeviceSpan<std::uint32_t const> mask,
                           DeviceSpan<std::uint64_t> sums, void* stream) {
  auto const blocks = static_cast<unsigned>((sums.size() + row_words - 1) / row_words);
  launch_kernel<std::uint32_t const*, std::uint64_t, std::uint64_t, std::uint32_t const*, std::uint64_t*>(
      add_rows, blocks, row_words * row_warps, stream, "The sums of rows", rows.address(), rows.size() / sums.size(),
      sums.size(), mask.address(), sums.address());
}

}  // namespace penstock
