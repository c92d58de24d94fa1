// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "penstock/cpu/operation.hpp"

namespace penstock::cpu {

/// One thing that an engine has done.
struct Executed {
  Engine engine;         ///< Says what it was, too: an upload, a download, a kernel, a callback.
  std::uint64_t stream;  ///< 0 is the legacy stream; others count from 1 in the order in which they were made.
  Clock::time_point start;
  Clock::time_point end;
};

/// Is told of each operation after it was done and before its stream goes on. Must not throw.
///
/// Threads: those of the engines, several at once.
/// Blocks:  its engine, for as long as it takes.
using Observer = std::function<void(Executed const&)>;

}  // namespace penstock::cpu
