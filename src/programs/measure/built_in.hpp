// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "penstock/job.hpp"
#include "programs/measure/filler.hpp"

namespace penstock::measure {

/// Work of the lanes on each tile.
enum class Work : std::uint8_t {
  copy,       ///< No work: in, out.
  transform,  ///< y = x + sqrt(sin^2 + cos^2), as in penstock/kernels.hpp.
  busy,       ///< A kernel of one block that takes a stated time.
  hash,       ///< BLAKE3; `hashed_bytes` are copied back.
};

/// Size of the topmost node of a tile's tree, as in penstock/kernels.hpp.
inline constexpr std::size_t hashed_bytes = 112;

/// Directions in which tiles are copied.
enum class Direction : std::uint8_t { in, out, both };

/// The values of the built-in job's options.
struct BuiltIn {
  Work work = Work::transform;
  std::chrono::microseconds busy{0};  ///< Work::busy uses it.
  Fill fill = Fill::none;
  std::chrono::microseconds fill_busy{0};  ///< Fill::busy uses it.
  Direction direction = Direction::both;
  std::string file = {};  ///< Fill::file uses it.

  explicit BuiltIn(JobValues const& values);
};

/// The job that is built into `penstock`. It has no Job::make: its work differs by flavour, and work_of of
/// work_stages.hpp makes it.
Job const& built_in_job();

}  // namespace penstock::measure
