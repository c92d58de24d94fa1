// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "penstock/core/recording.hpp"

namespace penstock {

/// What a profiler is shown of the threads while they run: from when to when each is in a step. An object that is asked
/// to show it holds a pointer to a Ranges, or null.
///
/// Threads: any; a range is its thread's own, and one that begins within another ends before it.
class Ranges {
 public:
  virtual ~Ranges() = default;
  /// `tile`: its sequence; empty while it has none.
  virtual void begin(Step step, std::optional<std::uint64_t> tile) noexcept = 0;
  /// `step`: that of the range that began last and has not ended.
  virtual void end(Step step) noexcept = 0;
};

/// A range from here to the end of the scope; none, if `ranges` is null.
class RangeHere {
 public:
  RangeHere(Ranges* ranges, Step step, std::optional<std::uint64_t> tile = {}) noexcept : ranges_(ranges), step_(step) {
    if (ranges_ != nullptr) ranges_->begin(step, tile);
  }
  RangeHere(RangeHere const&) = delete;
  RangeHere& operator=(RangeHere const&) = delete;
  ~RangeHere() {
    if (ranges_ != nullptr) ranges_->end(step_);
  }

 private:
  Ranges* ranges_;
  Step step_;
};

}  // namespace penstock
