// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock::chaos {

/// Numbers that follow from a seed alone (splitmix64).
///
/// Threads: one.
/// Source:  Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
class Draw {
 public:
  explicit constexpr Draw(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15ULL;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31);
  }
  /// Shape: `end` is 1 at least.
  std::uint64_t below(std::uint64_t end) noexcept { return next() % end; }
  /// Both included.
  std::uint64_t between(std::uint64_t least, std::uint64_t most) noexcept { return least + below(most - least + 1); }
  bool one_in(std::uint64_t many) noexcept { return below(many) == 0; }
  /// Number from 1 to 2^`bits` - 1; each power of two is as likely as any other.
  std::uint64_t of_any_size(unsigned bits) noexcept {
    std::uint64_t const least = std::uint64_t{1} << below(bits);
    return least + below(least);
  }
  /// A generator that is independent of how many numbers are drawn from this one later.
  Draw branch(std::uint64_t number) noexcept { return Draw(next() ^ (number * 0xd1342543de82ef95ULL)); }

 private:
  std::uint64_t state_;
};

}  // namespace penstock::chaos
