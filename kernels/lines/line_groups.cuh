// SPDX-License-Identifier: Apache-2.0
// Sums over the lines of a block of GPU threads, in shared memory where they fit.
#pragma once

#include <type_traits>

#include "kernels/lines/line_walk.hpp"

namespace penstock {

/// Number of groups that are added up in shared memory first.
inline constexpr unsigned own_line_groups = 1024;

template <class Number>
__device__ unsigned long long* word_of(Number& number) {
  return reinterpret_cast<unsigned long long*>(&number);
}

/// Counts of the reasons why keys and numbers of a block's lines could not be used. A block has fewer than 2^32 lines.
struct OwnLineReasons {
  unsigned keys[line_reasons], numbers[line_reasons];
  unsigned open_quotes;
  unsigned long long largest, before;

  __device__ void clear(unsigned thread) {
    if (thread < line_reasons) keys[thread] = numbers[thread] = 0;
    if (thread == 0) largest = before = open_quotes = 0;
  }
  __device__ void add(WalkedLine const& line, bool has_group) {
    if (line.open_quote) atomicAdd(&open_quotes, 1U);
    if (!line.has_number()) atomicAdd(&numbers[static_cast<unsigned>(line.number_reason)], 1U);
    if (has_group) return;
    LineReason const reason = line.has_key() ? LineReason::outside : line.key_reason;
    atomicAdd(&keys[static_cast<unsigned>(reason)], 1U);
    if (reason == LineReason::outside) {
      atomicMax(line.has_key() ? &largest : &before, static_cast<unsigned long long>(line.key));
    }
  }
  __device__ void give(unsigned thread, LineReasons& all) const {
    if (thread < line_reasons) {
      if (keys[thread] != 0) atomicAdd(word_of(all.keys[thread]), static_cast<unsigned long long>(keys[thread]));
      if (numbers[thread] != 0)
        atomicAdd(word_of(all.numbers[thread]), static_cast<unsigned long long>(numbers[thread]));
    }
    if (thread == 0 && open_quotes != 0) {
      atomicAdd(word_of(all.open_quotes), static_cast<unsigned long long>(open_quotes));
    }
    if (thread == 0 && largest != 0) atomicMax(word_of(all.largest), largest);
    if (thread == 0 && before != 0) atomicMax(word_of(all.before), before);
  }
};

/// Groups of a block, or of all.
template <LineWalk how>
struct OwnLineGroups {
  static constexpr bool decimal = how != LineWalk::digits;

  /// Decimal numbers have the upper half of 128 bits there, and the operation that overflows the lower half adds 1 to
  /// it. For others each half has the sum of 32 bits of the numbers, which does not overflow, as a block has fewer than
  /// 2^32 lines: so no operation needs to return a value.
  using High = std::conditional_t<decimal, int, unsigned long long>;

  unsigned* own_lines;
  unsigned long long* own_sums;
  High* own_highs;
  unsigned* own_without;  ///< Used only if `decimal`.
  LineGroup* all;
  unsigned count;

  __device__ bool shared() const { return count <= own_line_groups; }
  __device__ bool has_group(WalkedLine const& line) const { return line.has_key() && line.key < count - 1; }
  __device__ void add(WalkedLine const& line, bool counts_without) const {
    unsigned const group = has_group(line) ? static_cast<unsigned>(line.key) : count - 1;
    bool const without = decimal && counts_without && !line.has_number();
    if (!shared()) {
      add(group, 1, line.number, line.negative ? -1 : 0, without ? 1 : 0);
      return;
    }
    atomicAdd(&own_lines[group], 1U);
    unsigned long long const number = line.number;
    if constexpr (decimal) {
      int const high = number == 0 ? 0 : carry(atomicAdd(&own_sums[group], number), number) - (line.negative ? 1 : 0);
      if (high != 0) atomicAdd(&own_highs[group], high);
      if (without) atomicAdd(&own_without[group], 1U);
    } else {
      if (number != 0) atomicAdd(&own_sums[group], number & 0xffff'ffffU);
      if (number >> 32U != 0) atomicAdd(&own_highs[group], number >> 32U);
    }
  }
  /// Adds the part of this block to a group.
  __device__ void give(unsigned group) const {
    if (own_lines[group] == 0) return;
    if constexpr (decimal) {
      add(group, own_lines[group], own_sums[group], own_highs[group], own_without[group]);
    } else {
      unsigned long long const upper = own_highs[group] << 32U;
      int const carried = carry(own_sums[group], upper);
      add(group, own_lines[group], own_sums[group] + upper, (own_highs[group] >> 32U) + carried, 0);
    }
  }

 private:
  __device__ static int carry(unsigned long long before, unsigned long long more) {
    return before + more < before ? 1 : 0;
  }
  __device__ void add(unsigned group, unsigned long long lines, unsigned long long sum, long long high,
                      unsigned long long without) const {
    atomicAdd(word_of(all[group].lines), lines);
    if (sum != 0) high += carry(atomicAdd(word_of(all[group].sum), sum), sum);
    if (high != 0) atomicAdd(word_of(all[group].high), static_cast<unsigned long long>(high));
    if (decimal && without != 0) atomicAdd(word_of(all[group].without), without);
  }
};

}  // namespace penstock
