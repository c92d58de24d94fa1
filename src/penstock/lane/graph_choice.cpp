// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/graph_choice.hpp"

#include <algorithm>

namespace penstock {

GraphChoice::GraphChoice(Graphs asked) noexcept
    : phase_(asked == Graphs::automatic ? Phase::warm_up
             : asked == Graphs::always  ? Phase::launch
                                        : Phase::run) {}

void GraphChoice::ran(std::chrono::nanoseconds took) noexcept {
  if (phase_ == Phase::warm_up) {
    if (++seen_ < warm_up) return;
    phase_ = Phase::try_runs;
    seen_ = 0;
  } else if (phase_ == Phase::try_runs) {
    runs_[seen_] = took;
    if (++seen_ < samples) return;
    phase_ = Phase::try_launches;
    seen_ = 0;
  }
}

void GraphChoice::launched(std::chrono::nanoseconds took) noexcept {
  if (phase_ != Phase::try_launches) return;
  launches_[seen_] = took;
  if (++seen_ == samples) decide();
}

void GraphChoice::decide() noexcept {
  phase_ = median(launches_) < median(runs_) ? Phase::launch : Phase::run;
}

/// Among so many times a single one that was delayed has no effect.
std::chrono::nanoseconds GraphChoice::median(Times& times) noexcept {
  auto const middle = times.begin() + samples / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace penstock
