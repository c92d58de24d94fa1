// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock::simulation {

/// Result of a run.
struct Ended {
  std::uint64_t digest = 0;      ///< Made of all decisions of the scheduler.
  std::uint64_t operations = 0;  ///< Scheduling points.
  std::uint64_t switches = 0;
  std::uint64_t fibers = 0;
  std::uint64_t nanoseconds = 0;  ///< Time of the simulation.
  std::uint64_t left = 0;         ///< Threads that were not joined.
};

/// Must be called once, before the first run: nothing made later is known to a run but what it makes itself.
void prepare() noexcept;

/// Runs `body(argument)` as the first thread of a simulated process, to its end. Its first scheduling points decide
/// nothing, until it calls chaos::begin with the seed.
///
/// Each run begins with the program's variables as `prepare` found them, an empty heap at the same addresses, and the
/// same time.
///
/// `stuck` is called with a sentence if no thread can go on, or they compute without an end; then all stacks are
/// printed on stderr and the process exits with 1. With `trace` each decision is a line on stdout.
///
/// Threads: one, and not from within a run.
Ended run(void (*body)(void*), void* argument, void (*stuck)(void*, char const* why), bool trace);

/// True between the beginning and the end of a run.
bool running() noexcept;

}  // namespace penstock::simulation
