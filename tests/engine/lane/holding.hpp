// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <thread>

#include "support/kernels.hpp"
#include "support/thread_state.hpp"

namespace penstock {

/// The tiles before whose work a stage holds its device, and what a test wants to know of that. What is held goes on
/// when this dies, so declare it before the lane is opened.
///
/// Threads: the lane's comes to tiles, the test's looks on.
struct Holding {
  std::set<std::uint64_t> at{0};           ///< Sequence numbers.
  std::optional<support::Hold> hold = {};  ///< The latest; there is one once its tile has come.
  std::atomic<pid_t> thread = 0;           ///< The lane's, once a tile has come.
  std::atomic<std::size_t> came = 0;       ///< Number of tiles that have come to the stage.

  /// Blocks: until `count` tiles have come to the stage.
  void await_came(std::size_t count) const {
    while (came < count) std::this_thread::yield();
  }
  /// Blocks: until the lane sleeps, and so has done all that it could do. At least one tile has come.
  void await_asleep() const { support::await_asleep(thread); }
};

}  // namespace penstock
