// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "penstock/flavour.hpp"
#include "penstock/literals/literal_table.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

constexpr unsigned warp = 32;
constexpr unsigned all_lanes = 0xffffffff;

/// Where lines end and literals begin in the staged bytes: a bit for each byte, 32 in a word.
struct LiteralMarks {
  LiteralTable table;
  unsigned const* filter;
  unsigned* ends;
  unsigned* found;

  /// Every thread of the block calls it.
  __device__ void mark(char const* staged, unsigned length, unsigned warps) const {
    unsigned const lane = threadIdx.x % warp;
    unsigned const windows = table.header().windows, stride = table.header().stride;
    auto const* const words = reinterpret_cast<unsigned const*>(staged);
    for (unsigned window = threadIdx.x / warp; window * warp < length; window += warps) {
      unsigned const at = window * warp + lane;
      unsigned const shift = at % 4 * 8, k = at / 4;
      unsigned const low = __funnelshift_r(words[k], words[k + 1], shift);
      unsigned const high = __funnelshift_r(words[k + 1], words[k + 2], shift);
      bool const inside = at < length;
      unsigned const here = __ballot_sync(all_lanes, inside && (low & 0xff) == '\n');
      unsigned const hits = __ballot_sync(
          all_lanes,
          inside && literal_at(table, filter, windows_at(at, windows, stride), low, high, staged, 0, length, at));
      if (lane == 0) {
        ends[window] = here;
        found[window] = hits;
      }
    }
  }
  enum class Line { has_one, has_none, goes_on };
  /// Of the line that begins at `begin`, as far as it is staged. All threads of a warp call it, and get the same.
  __device__ Line look(unsigned begin, unsigned length) const {
    unsigned const lane = threadIdx.x % warp;
    unsigned const first = begin / warp, behind = (length + warp - 1) / warp;
    for (unsigned base = first; base < behind; base += warp) {
      unsigned const window = base + lane;
      unsigned const from = window == first ? all_lanes << begin % warp : all_lanes;
      unsigned const ends_here = window < behind ? ends[window] & from : 0;
      unsigned hits = window < behind ? found[window] & from : 0;
      unsigned const with_end = __ballot_sync(all_lanes, ends_here != 0);
      unsigned const last = with_end != 0 ? __ffs(static_cast<int>(with_end)) - 1 : warp;
      if (lane == last) hits &= (ends_here & -ends_here) - 1;
      if (__ballot_sync(all_lanes, lane <= last && hits != 0) != 0) return Line::has_one;
      if (with_end != 0) return Line::has_none;
    }
    return Line::goes_on;
  }
  /// The same of a line that is not staged.
  __device__ bool has_one(char const* text, std::uint64_t begin, std::uint64_t end) const {
    unsigned const lane = threadIdx.x % warp;
    unsigned const windows = table.header().windows, stride = table.header().stride;
    for (; begin < end; begin += warp) {
      std::uint64_t const at = begin + lane;
      unsigned part[2] = {};
      for (unsigned k = 0; k < 8; ++k) {
        if (at + k < end) part[k / 4] |= unsigned{static_cast<unsigned char>(text[at + k])} << k % 4 * 8;
      }
      unsigned const stops = __ballot_sync(all_lanes, at < end && (part[0] & 0xff) == '\n');
      bool const hit =
          at < end && literal_at(table, filter, windows_at(at, windows, stride), part[0], part[1], text, 0, end, at);
      unsigned const hits = __ballot_sync(all_lanes, hit);
      unsigned const before_stop = stops != 0 ? (stops & -stops) - 1 : all_lanes;
      if ((hits & before_stop) != 0) return true;
      if (stops != 0) return false;
    }
    return false;
  }
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
