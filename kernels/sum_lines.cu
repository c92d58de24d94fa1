// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "penstock/kernels/cuda_bodies.hpp"
#include "penstock/kernels/cuda_launch.cuh"
#include "penstock/kernels/line_walk.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// A warp walks over the lines that begin in its part of the block's bytes, one after the other: its threads look at
/// 32 bytes at once.
constexpr unsigned warp = 32, threads = 512, warps = threads / warp;
constexpr unsigned all_lanes = 0xffffffff;
constexpr unsigned own_bytes = sum_lines_block_bytes;
constexpr unsigned bytes_of_warp = own_bytes / warps;
static_assert(bytes_of_warp % warp == 0 && bytes_of_warp / warp <= warp);
/// Of the lines that begin in a block's bytes most end so far behind them; the others are read from the input.
constexpr unsigned ahead_bytes = 1024;
/// So many groups are added up in shared memory first.
constexpr unsigned own_groups = 1024;

/// The stops of a text as a warp finds them. All its threads call it together and get the same.
template <class Place>
class WarpStops {
 public:
  __device__ WarpStops(char const* text, Place begin, Place end, LineFields const& fields)
      : text_(text), fields_(fields), base_(begin), end_(end) {
    look();
  }
  __device__ Place next() {
    while (mask_ == 0) {
      if (end_ - base_ <= warp) return end_;
      base_ += warp;
      look();
    }
    unsigned const bit = __ffs(static_cast<int>(mask_)) - 1;
    mask_ &= mask_ - 1;
    return base_ + bit;
  }

 private:
  __device__ void look() {
    Place const at = base_ + threadIdx.x % warp;
    mask_ = __ballot_sync(all_lanes, at < end_ && is_stop(text_[at], fields_));
  }

  char const* text_;
  LineFields const& fields_;
  Place base_;
  Place const end_;
  unsigned mask_ = 0;
};

template <class Place>
__device__ WalkedLine walk(char const* text, Place begin, Place end, LineFields const& fields) {
  WarpStops<Place> stops(text, begin, end, fields);
  auto const byte_at = [text](Place at) { return text[at]; };
  return walk_line(stops, byte_at, begin, end, fields);
}

__device__ void stage(char const* from, std::uint64_t bytes, char* to) {
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

/// Groups of a block, or of all.
struct Groups {
  unsigned* own_lines;
  unsigned long long* own_sums;
  LineGroup* all;
  unsigned count;

  __device__ bool shared() const { return count <= own_groups; }
  __device__ void add(WalkedLine const& line) const {
    unsigned const group = line.has_key && line.key < count - 1 ? static_cast<unsigned>(line.key) : count - 1;
    auto const sum = static_cast<unsigned long long>(line.number);
    if (shared()) {
      atomicAdd(&own_lines[group], 1U);
      if (sum != 0) atomicAdd(&own_sums[group], sum);
    } else {
      add(group, 1, sum);
    }
  }
  __device__ void add(unsigned group, unsigned long long lines, unsigned long long sum) const {
    atomicAdd(reinterpret_cast<unsigned long long*>(&all[group].lines), lines);
    if (sum != 0) atomicAdd(reinterpret_cast<unsigned long long*>(&all[group].sum), sum);
  }
};

__global__ void __launch_bounds__(threads)
    add_lines(char const* input, std::uint64_t bytes, LineFields const __grid_constant__ fields, LineGroup* all,
              unsigned count) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  __shared__ alignas(16) char staged[own_bytes + ahead_bytes];
  __shared__ unsigned own_lines[own_groups];
  __shared__ unsigned long long own_sums[own_groups];
  Groups const groups{own_lines, own_sums, all, count};
  for (unsigned k = threadIdx.x; groups.shared() && k < count; k += threads) {
    own_lines[k] = 0;
    own_sums[k] = 0;
  }
  unsigned const lane = threadIdx.x % warp;
  for (std::uint64_t begin = std::uint64_t{blockIdx.x} * own_bytes; begin < bytes;
       begin += std::uint64_t{gridDim.x} * own_bytes) {
    auto const length = static_cast<unsigned>(min(bytes - begin, std::uint64_t{own_bytes + ahead_bytes}));
    bool const all_staged = begin + length == bytes;
    __syncthreads();
    stage(input + begin, length, staged);
    __syncthreads();
    // Each thread keeps where lines begin in a window of the warp's part.
    unsigned const part = threadIdx.x / warp * bytes_of_warp;
    unsigned own_window = 0;
#pragma unroll
    for (unsigned window = 0; window < bytes_of_warp / warp; ++window) {
      unsigned const at = part + window * warp + lane;
      // A line begins behind the end of another one.
      char const before = at != 0 ? staged[at - 1] : begin != 0 ? input[begin - 1] : '\n';
      unsigned const lines = __ballot_sync(all_lanes, at < length && before == '\n');
      if (lane == window) own_window = lines;
    }
    for (unsigned windows = __ballot_sync(all_lanes, own_window != 0); windows != 0; windows &= windows - 1) {
      unsigned const window = __ffs(static_cast<int>(windows)) - 1;
      for (unsigned lines = __shfl_sync(all_lanes, own_window, window); lines != 0; lines &= lines - 1) {
        unsigned const line_begin = part + window * warp + (__ffs(static_cast<int>(lines)) - 1);
        WalkedLine line = walk<unsigned>(staged, line_begin, length, fields);
        if (line.stopped == length && !all_staged) line = walk<std::uint64_t>(input, begin + line_begin, bytes, fields);
        if (lane == 0) groups.add(line);
      }
    }
  }
  __syncthreads();
  for (unsigned k = threadIdx.x; groups.shared() && k < count; k += threads) {
    if (own_lines[k] != 0) groups.add(k, own_lines[k], own_sums[k]);
  }
}

}  // namespace

void sum_lines_prepare_cuda() {
  load_kernel(add_lines, "Loading the sum_lines kernel");
}

void sum_lines_cuda(DeviceSpan<std::byte const> input, LineFields const& fields, DeviceSpan<LineGroup> groups,
                    std::size_t most_blocks, void* stream) {
  // A block counts at most 2^32 lines of a group.
  std::size_t const blocks = std::min((input.size() + own_bytes - 1) / own_bytes,
                                      std::max<std::size_t>(1, most_blocks * block_threads / threads));
  launch_kernel<char const*, std::uint64_t, LineFields, LineGroup*, unsigned>(
      add_lines, static_cast<unsigned>(blocks), threads, stream, "The sum_lines kernel",
      reinterpret_cast<char const*>(input.address()), input.size(), fields, groups.address(),
      static_cast<unsigned>(groups.size()));
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
