// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "penstock/ingest/sockets.hpp"

namespace penstock {

/// Content of a tile of sockets so far.
///
/// Threads: the one that fills the tile.
struct Contents {
  std::span<std::byte> input = {};
  std::size_t bytes = 0;  ///< Number of bytes at the front of `input`.
  std::vector<Stretch> stretches = {};
  std::size_t most_stretches = std::numeric_limits<std::size_t>::max();
  bool full = false;  ///< The tile is to leave: it has no room for the next data.

  std::span<std::byte> room() const noexcept { return input.subspan(bytes); }
  /// Adds the `count` bytes in front of the room, which came from `from` at offset `at`.
  void add(std::uint64_t from, std::uint64_t at, std::size_t count) {
    Stretch* const last = stretches.empty() ? nullptr : &stretches.back();
    if (last != nullptr && last->from == from && last->at + last->bytes == at) {
      last->bytes += count;
    } else {
      stretches.push_back({from, at, bytes, count});
    }
    bytes += count;
  }
  /// Adds a separate stretch, even if it adjoins the last one.
  void add_apart(std::uint64_t from, std::uint64_t at, std::size_t count) {
    stretches.push_back({from, at, bytes, count});
    bytes += count;
  }
};

}  // namespace penstock
