// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "anyprogram/watched/fault_kind.hpp"
#include "anyprogram/watched/model.hpp"

namespace penstock::cli {

/// A stretch in which nothing ran, between the first start and the last end of a work, and its reason.
struct Gap {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  FaultKind why = FaultKind::queued;
  WatchRecord const* call = nullptr;  ///< The call in which the time went, or which came late; null if not known.
};

/// Gaps in which nothing ran between the first start and the last end, by their reason.
struct GapSum {
  FaultKind why = FaultKind::host_late;  ///< One of host_late, host_blocks, slow_calls, queued.
  std::uint64_t count = 0;
  std::int64_t time = 0;
};

/// Finds gaps, with their reasons by the call that asked for the first work behind a gap. If it came within the gap,
/// its thread was late, because it waited, was in another call, or in none; else the work was in its stream and had to
/// wait there.
std::vector<Gap> find_gaps(WatchModel const& model);

}  // namespace penstock::cli
