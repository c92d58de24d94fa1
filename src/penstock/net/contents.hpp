// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "penstock/sockets.hpp"

namespace penstock {

/// What a tile has of sockets by now.
///
/// Threads: the one that fills the tile.
struct Contents {
  std::span<std::byte> input = {};
  std::size_t bytes = 0;  ///< Of the front of `input`.
  std::vector<Stretch> stretches = {};
  std::size_t most_stretches = std::numeric_limits<std::size_t>::max();
  bool full = false;  ///< It is to leave: what comes next has no room.

  std::span<std::byte> room() const noexcept { return input.subspan(bytes); }
  /// The `count` bytes in front of the room count, and came of `from`, where they are at `at`.
  void add(std::uint64_t from, std::uint64_t at, std::size_t count) {
    Stretch* const last = stretches.empty() ? nullptr : &stretches.back();
    if (last != nullptr && last->from == from && last->at + last->bytes == at) {
      last->bytes += count;
    } else {
      stretches.push_back({from, at, bytes, count});
    }
    bytes += count;
  }
  /// Likewise, one that is by itself though it may be next to the last.
  void add_apart(std::uint64_t from, std::uint64_t at, std::size_t count) {
    stretches.push_back({from, at, bytes, count});
    bytes += count;
  }
};

}  // namespace penstock
