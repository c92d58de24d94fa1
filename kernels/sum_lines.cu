// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "penstock/kernels/cuda_bodies.hpp"
#include "penstock/kernels/cuda_launch.cuh"
#include "penstock/kernels/line_walk.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr unsigned threads = block_threads;
constexpr unsigned own_bytes = sum_lines_block_bytes;
constexpr unsigned bytes_of_thread = own_bytes / threads;
/// Of the lines that begin in a block's bytes most end so far behind them; the others are read from the input.
constexpr unsigned ahead_bytes = 1024;
/// So many groups are added up in shared memory first.
constexpr unsigned own_groups = 512;

/// A block's part of the input, in shared memory, and behind that the input.
struct StagedBytes {
  unsigned char const* staged;
  unsigned char const* input;
  std::uint64_t begin;
  std::uint64_t end;  ///< Of what is staged.

  constexpr unsigned char operator()(std::uint64_t at) const { return at < end ? staged[at - begin] : input[at]; }
};

__device__ void stage(unsigned char const* from, std::uint64_t bytes, unsigned char* to) {
  if (reinterpret_cast<std::uintptr_t>(from) % sizeof(uint4) != 0) {
    for (std::uint64_t k = threadIdx.x; k < bytes; k += threads) to[k] = from[k];
    return;
  }
  std::uint64_t const words = bytes / sizeof(uint4);
  for (std::uint64_t k = threadIdx.x; k < words; k += threads) {
    reinterpret_cast<uint4*>(to)[k] = reinterpret_cast<uint4 const*>(from)[k];
  }
  for (std::uint64_t k = words * sizeof(uint4) + threadIdx.x; k < bytes; k += threads) to[k] = from[k];
}

__global__ void __launch_bounds__(threads)
    add_lines(unsigned char const* input, std::uint64_t bytes, LineFields fields, LineGroup* groups, unsigned count) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  __shared__ alignas(16) unsigned char staged[own_bytes + ahead_bytes];
  __shared__ unsigned own_lines[own_groups];
  __shared__ unsigned long long own_sums[own_groups];
  bool const shares = count <= own_groups;
  for (unsigned k = threadIdx.x; shares && k < count; k += threads) {
    own_lines[k] = 0;
    own_sums[k] = 0;
  }
  for (std::uint64_t begin = std::uint64_t{blockIdx.x} * own_bytes; begin < bytes;
       begin += std::uint64_t{gridDim.x} * own_bytes) {
    std::uint64_t const end = min(bytes, begin + own_bytes + ahead_bytes);
    __syncthreads();
    stage(input + begin, end - begin, staged);
    __syncthreads();
    StagedBytes const byte_at{staged, input, begin, end};
    std::uint64_t const own_begin = begin + threadIdx.x * bytes_of_thread;
    std::uint64_t const own_end = min(bytes, own_begin + bytes_of_thread);
    for (std::uint64_t at = own_begin; at < own_end; ++at) {
      unsigned char const before = at == 0 ? '\n' : at == begin ? input[at - 1] : staged[at - 1 - begin];
      if (before != '\n') continue;
      WalkedLine const line = walk_line(byte_at, at, bytes, fields);
      unsigned const group = line.has_key && line.key < count - 1 ? static_cast<unsigned>(line.key) : count - 1;
      if (shares) {
        atomicAdd(&own_lines[group], 1U);
        if (line.number != 0) atomicAdd(&own_sums[group], static_cast<unsigned long long>(line.number));
      } else {
        atomicAdd(reinterpret_cast<unsigned long long*>(&groups[group].lines), 1ULL);
        atomicAdd(reinterpret_cast<unsigned long long*>(&groups[group].sum),
                  static_cast<unsigned long long>(line.number));
      }
    }
  }
  __syncthreads();
  for (unsigned k = threadIdx.x; shares && k < count; k += threads) {
    if (own_lines[k] == 0) continue;
    atomicAdd(reinterpret_cast<unsigned long long*>(&groups[k].lines), static_cast<unsigned long long>(own_lines[k]));
    atomicAdd(reinterpret_cast<unsigned long long*>(&groups[k].sum), own_sums[k]);
  }
}

}  // namespace

void sum_lines_prepare_cuda() {
  load_kernel(add_lines, "Loading the sum_lines kernel");
}

void sum_lines_cuda(DeviceSpan<std::byte const> input, LineFields const& fields, DeviceSpan<LineGroup> groups,
                    std::size_t most_blocks, void* stream) {
  // A block counts at most 2^32 lines of a group.
  std::size_t const blocks = std::min((input.size() + own_bytes - 1) / own_bytes, most_blocks);
  launch_kernel<unsigned char const*, std::uint64_t, LineFields, LineGroup*, unsigned>(
      add_lines, static_cast<unsigned>(blocks), threads, stream, "The sum_lines kernel",
      reinterpret_cast<unsigned char const*>(input.address()), input.size(), fields, groups.address(),
      static_cast<unsigned>(groups.size()));
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
