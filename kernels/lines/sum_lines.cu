// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "kernels/basic/cuda_launch.cuh"
#include "kernels/lines/json_walk.hpp"
#include "kernels/lines/line_groups.cuh"
#include "kernels/lines/line_walk.hpp"
#include "kernels/lines/lines_on_cuda.hpp"
#include "kernels/lines/literal_marks.cuh"

namespace penstock {
namespace {

/// A warp walks over the lines that begin in its part of the block's bytes, one after the other: its threads look at
/// 32 bytes at once.
constexpr unsigned line_threads = 512, warps = line_threads / warp;
constexpr unsigned own_bytes = sum_lines_block_bytes;
constexpr unsigned bytes_of_warp = own_bytes / warps;
static_assert(bytes_of_warp % warp == 0 && bytes_of_warp / warp <= warp);
/// Maximum distance behind a block's bytes at which most lines end that begin in the block. The others are read from
/// the input.
constexpr unsigned ahead_bytes = 1024;
constexpr unsigned staged_bytes = own_bytes + ahead_bytes, staged_windows = staged_bytes / warp;

/// The stops of a line as a warp finds them. All its threads call it together and get the same.
template <LineWalk how, class Place>
class WarpStops {
 public:
  [[maybe_unused]] static constexpr bool watches_quotes = how != LineWalk::json;

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
  /// Place of the first quote or newline from `from` on, which is behind the last stop; the end if there is none.
  __device__ Place quote_or_newline(Place from) const {
    for (Place base = base_; base < end_; base += warp) {
      Place const at = base + threadIdx.x % warp;
      bool const is_one = at >= from && at < end_ && (text_[at] == '\n' || text_[at] == fields_.quote);
      unsigned const found = __ballot_sync(all_lanes, is_one);
      if (found != 0) return base + (__ffs(static_cast<int>(found)) - 1);
    }
    return end_;
  }

 private:
  __device__ void look() {
    Place const at = base_ + threadIdx.x % warp;
    if constexpr (how == LineWalk::json) {
      char const byte = at < end_ ? text_[at] : ' ';
      mask_ = strings_.stops({.quotes = __ballot_sync(all_lanes, byte == '"'),
                              .escapes = __ballot_sync(all_lanes, byte == '\\'),
                              .stops = __ballot_sync(all_lanes, is_json_stop(byte)),
                              .newlines = __ballot_sync(all_lanes, byte == '\n')});
    } else {
      mask_ = __ballot_sync(all_lanes, at < end_ && is_stop(text_[at], fields_));
    }
  }

  char const* text_;
  LineFields const& fields_;
  Place base_;
  Place const end_;
  unsigned mask_ = 0;
  JsonStrings<unsigned> strings_;  ///< Used with JSON only.
};

template <LineWalk how, class Place>
__device__ WalkedLine walk(char const* text, Place begin, Place end, LineFields const& fields) {
  WarpStops<how, Place> stops(text, begin, end, fields);
  TextBytes const byte_at{text};
  if constexpr (how == LineWalk::json) {
    return JsonWalk(stops, byte_at, begin, end, fields).walk();
  } else {
    return walk_line<how>(stops, byte_at, begin, end, fields);
  }
}
__device__ void stage(char const* from, std::uint64_t bytes, char* to) {
  if (reinterpret_cast<std::uintptr_t>(from) % sizeof(uint4) != 0) {
    for (std::uint64_t k = threadIdx.x; k < bytes; k += line_threads) to[k] = from[k];
    return;
  }
  std::uint64_t const words = bytes / sizeof(uint4);
  for (std::uint64_t k = threadIdx.x; k < words; k += line_threads) {
    reinterpret_cast<uint4*>(to)[k] = reinterpret_cast<uint4 const*>(from)[k];
  }
  for (std::uint64_t k = words * sizeof(uint4) + threadIdx.x; k < bytes; k += line_threads) to[k] = from[k];
}

/// Inputs of one kernel.
struct LineInputs {
  char const* first_bytes[sum_lines_inputs];
  std::uint64_t bytes[sum_lines_inputs];
  unsigned count;
  unsigned blocks_of_each;  ///< Number of blocks that the largest input takes.
};

/// `some`: only lines that have a literal.
template <bool some, LineWalk how>
__global__ void __launch_bounds__(line_threads)
    add_lines(LineInputs const __grid_constant__ inputs, LineFields const __grid_constant__ fields,
              unsigned char const* literals, LineGroup* all, unsigned count, LineReasons* reasons) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  // The search for literals reads up to two words behind the last byte.
  __shared__ alignas(16) char staged[staged_bytes + 16];
  __shared__ unsigned filter[some ? literal_filter_words : 1], ends[some ? staged_windows : 1],
      found[some ? staged_windows : 1];
  LiteralMarks const marks{{literals}, filter, ends, found};
  for (unsigned k = threadIdx.x; some && k < literal_filter_words; k += line_threads)
    filter[k] = marks.table.filter()[k];
  __shared__ unsigned own_lines[own_line_groups];
  __shared__ unsigned long long own_sums[own_line_groups];
  __shared__ typename OwnLineGroups<how>::High own_highs[own_line_groups];
  constexpr bool decimal = OwnLineGroups<how>::decimal;
  __shared__ unsigned own_without[decimal ? own_line_groups : 1];
  __shared__ OwnLineReasons own_reasons;
  own_reasons.clear(threadIdx.x);
  OwnLineGroups<how> const groups{own_lines, own_sums, own_highs, own_without, all, count};
  for (unsigned k = threadIdx.x; groups.shared() && k < count; k += line_threads) {
    own_lines[k] = 0;
    own_sums[k] = 0;
    own_highs[k] = 0;
    if constexpr (decimal) own_without[k] = 0;
  }
  unsigned const lane = threadIdx.x % warp;
  for (unsigned block = blockIdx.x; block < inputs.count * inputs.blocks_of_each; block += gridDim.x) {
    char const* const input = inputs.first_bytes[block / inputs.blocks_of_each];
    std::uint64_t const bytes = inputs.bytes[block / inputs.blocks_of_each];
    std::uint64_t const begin = std::uint64_t{block % inputs.blocks_of_each} * own_bytes;
    if (begin >= bytes) continue;
    auto const length = static_cast<unsigned>(min(bytes - begin, std::uint64_t{staged_bytes}));
    bool const all_staged = begin + length == bytes;
    __syncthreads();
    stage(input + begin, length, staged);
    __syncthreads();
    if constexpr (some) {
      marks.mark(staged, length, line_threads / warp);
      __syncthreads();
    }
    // Each thread keeps the begins of lines in a window of the warp's part.
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
        if constexpr (some) {
          auto const seen = marks.look(line_begin, length);
          if (seen == LiteralMarks::Line::has_none) continue;
          if (seen == LiteralMarks::Line::goes_on && (all_staged || !marks.has_one(input, begin + line_begin, bytes))) {
            continue;
          }
          if (seen == LiteralMarks::Line::untold && !marks.is_taken(input, begin + line_begin, bytes)) continue;
        }
        // A line of JSON may have several texts. Places count from the block's first byte.
        WalkedLine line{.stopped = line_begin};
        do {
          auto const text = line.stopped;
          if (text < length) line = walk<how, unsigned>(staged, static_cast<unsigned>(text), length, fields);
          // The walk may have looked at bytes behind the staged ones.
          if (text >= length || (length - line.stopped <= time_look_ahead && !all_staged)) {
            line = walk<how, std::uint64_t>(input, begin + text, bytes, fields);
            line.stopped -= begin;
          }
          if (lane == 0) {
            groups.add(line, fields.decimal || how == LineWalk::json);
            own_reasons.add(line, groups.has_group(line));
          }
        } while (how == LineWalk::json && line.goes_on);
      }
    }
  }
  __syncthreads();
  for (unsigned k = threadIdx.x; groups.shared() && k < count; k += line_threads) groups.give(k);
  if (reasons != nullptr) own_reasons.give(threadIdx.x, *reasons);
}

template <LineWalk how>
auto kernel_of(bool some) {
  return some ? add_lines<true, how> : add_lines<false, how>;
}
auto kernel_of(LineWalk how, bool some) {
  if (how == LineWalk::json) return kernel_of<LineWalk::json>(some);
  return how == LineWalk::values ? kernel_of<LineWalk::values>(some) : kernel_of<LineWalk::digits>(some);
}

}  // namespace

void sum_lines_prepare_cuda() {
  for (auto const how : {LineWalk::digits, LineWalk::values, LineWalk::json}) {
    for (bool const some : {false, true}) load_kernel(kernel_of(how, some), "Loading a kernel of sum_lines");
  }
}

void sum_lines_cuda(std::span<DeviceSpan<std::byte const> const> inputs, LineFields const& fields,
                    DeviceSpan<std::byte const> literals, DeviceSpan<LineGroup> groups, DeviceSpan<LineReasons> reasons,
                    std::size_t most_blocks, void* stream) {
  LineInputs all{};
  std::size_t largest = 0;
  for (auto const& input : inputs) {
    if (input.empty()) continue;
    all.first_bytes[all.count] = reinterpret_cast<char const*>(input.address());
    all.bytes[all.count++] = input.size();
    largest = std::max(largest, input.size());
  }
  if (all.count == 0) return;
  // A block counts at most 2^32 lines of a group.
  all.blocks_of_each = static_cast<unsigned>((largest + own_bytes - 1) / own_bytes);
  std::size_t const blocks = std::min(std::size_t{all.count} * all.blocks_of_each,
                                      std::max<std::size_t>(1, most_blocks * block_threads / line_threads));
  launch_kernel<LineInputs, LineFields, unsigned char const*, LineGroup*, unsigned, LineReasons*>(
      kernel_of(walk_of(fields), !literals.empty()), static_cast<unsigned>(blocks), line_threads, stream,
      "The sum_lines kernel", all, fields, reinterpret_cast<unsigned char const*>(literals.address()), groups.address(),
      static_cast<unsigned>(groups.size()), reasons.empty() ? nullptr : reasons.address());
}

}  // namespace penstock
