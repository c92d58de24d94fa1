// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "engine/core/pool.hpp"
#include "programs/command/progress.hpp"
#include "programs/hash/hash_book.hpp"
#include "programs/hash/hash_source.hpp"

namespace penstock::cli {

/// Work that the CPUs did before there was a device.
struct HeadStart {
  std::uint64_t tiles = 0;  ///< Tiles that were hashed; those that stand for a group do not count.
  std::uint64_t bytes = 0;  ///< Bytes of those tiles.
  std::chrono::nanoseconds wall{0};
  bool input_ended = false;               ///< Nothing is left for a device.
  std::optional<std::string> broken_off;  ///< Reason why the input, or the book, failed.
};

/// Hashes each tile of `source` on the thread that read it, with one thread per tile of `pool`, until the input ends or
/// `enough` is requested. Tiles begun by then are finished and booked, so that others can go on with the source.
///
/// Shape:  `source` serves the pool, of which no tile is lent; its memory may be any.
/// Blocks: until then; also while a stream has no input.
HeadStart take_head_start(HashSource& source, Pool& pool, HashBook& book, Progress& progress,
                          std::stop_token const& enough);

}  // namespace penstock::cli
