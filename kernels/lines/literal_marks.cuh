// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/lines/literal_table.hpp"

namespace penstock {

constexpr unsigned warp = 32;
constexpr unsigned all_lanes = 0xffffffff;

/// Bytes of literals that a thread compares in a block before lines are left to the automaton. This is more than a text
/// needs in which each line has a literal.
constexpr int thread_steps = 1024;

/// Ends of lines and beginnings of literals in the staged bytes: a bit for each byte, 32 in a word.
struct LiteralMarks {
  LiteralTable table;
  unsigned const* filter;
  /// A byte that is marked in both ends no line: a literal may begin there, but too few steps were left to tell.
  unsigned* ends;
  unsigned* found;

  /// Every thread of the block calls it.
  __device__ void mark(char const* staged, unsigned length, unsigned warps) const {
    unsigned const lane = threadIdx.x % warp;
    unsigned const windows = table.header().windows, stride = table.header().stride;
    auto const* const words = reinterpret_cast<unsigned const*>(staged);
    LiteralSteps steps{.left = thread_steps};
    for (unsigned window = threadIdx.x / warp; window * warp < length; window += warps) {
      unsigned const at = window * warp + lane;
      unsigned const shift = at % 4 * 8, k = at / 4;
      unsigned const low = __funnelshift_r(words[k], words[k + 1], shift);
      unsigned const high = __funnelshift_r(words[k + 1], words[k + 2], shift);
      bool const inside = at < length;
      unsigned const here = __ballot_sync(all_lanes, inside && (low & 0xff) == '\n');
      bool const hit =
          inside && literal_at(table, filter, windows_at(at, windows, stride), low, high, staged, length, at, steps);
      unsigned const hits = __ballot_sync(all_lanes, hit) & ~here;
      unsigned const untold = __ballot_sync(all_lanes, hit && steps.left < 0) & ~here;
      if (lane == 0) {
        ends[window] = here | untold;
        found[window] = hits;
      }
    }
  }
  enum class Line { has_one, has_none, goes_on, untold };
  /// Judges the line that begins at `begin`, as far as it is staged. All threads of a warp call it and get the same
  /// result.
  __device__ Line look(unsigned begin, unsigned length) const {
    unsigned const lane = threadIdx.x % warp;
    unsigned const first = begin / warp, behind = (length + warp - 1) / warp;
    for (unsigned base = first; base < behind; base += warp) {
      unsigned const window = base + lane;
      unsigned const from = window == first ? all_lanes << begin % warp : all_lanes;
      unsigned const some_ends = window < behind ? ends[window] & from : 0;
      unsigned hits = window < behind ? found[window] & from : 0;
      unsigned const ends_here = some_ends & ~hits;
      unsigned const with_end = __ballot_sync(all_lanes, ends_here != 0);
      unsigned const last = with_end != 0 ? __ffs(static_cast<int>(with_end)) - 1 : warp;
      if (lane == last) hits &= (ends_here & -ends_here) - 1;
      if (lane > last) hits = 0;
      if (__ballot_sync(all_lanes, (hits & ~some_ends) != 0) != 0) return Line::has_one;
      if (__ballot_sync(all_lanes, (hits & some_ends) != 0) != 0) return Line::untold;
      if (with_end != 0) return Line::has_none;
    }
    return Line::goes_on;
  }
  /// The same for a line that is not staged.
  __device__ bool has_one(char const* text, std::uint64_t begin, std::uint64_t end) const {
    unsigned const lane = threadIdx.x % warp;
    unsigned const windows = table.header().windows, stride = table.header().stride;
    LiteralSteps steps{.left = thread_steps};
    std::uint64_t const line_begin = begin;
    for (; begin < end; begin += warp) {
      std::uint64_t const at = begin + lane;
      unsigned part[2] = {};
      for (unsigned k = 0; k < 8; ++k) {
        if (at + k < end) part[k / 4] |= unsigned{static_cast<unsigned char>(text[at + k])} << k % 4 * 8;
      }
      unsigned const stops = __ballot_sync(all_lanes, at < end && (part[0] & 0xff) == '\n');
      bool const hit = at < end && literal_at(table, filter, windows_at(at, windows, stride), part[0], part[1], text,
                                              end, at, steps);
      if (__any_sync(all_lanes, steps.left < 0)) return is_taken(text, line_begin, end);
      if (steps.left < thread_steps) steps.left += 4;  // A line may have any length.
      unsigned const hits = __ballot_sync(all_lanes, hit);
      unsigned const before_stop = stops != 0 ? (stops & -stops) - 1 : all_lanes;
      if ((hits & before_stop) != 0) return true;
      if (stops != 0) return false;
    }
    return false;
  }
  /// The same by the automaton. Each thread of the warp takes the same branches.
  __device__ bool is_taken(char const* text, std::uint64_t begin, std::uint64_t end) const {
    unsigned node = 0;
    for (; begin < end && text[begin] != '\n'; ++begin) {
      node = table.next_node(node, static_cast<unsigned char>(text[begin]));
      if (node != 0 && table.is_literal(node)) return true;
    }
    return false;
  }
};

}  // namespace penstock
