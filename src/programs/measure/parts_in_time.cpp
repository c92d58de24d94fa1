// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/parts_in_time.hpp"

#include "programs/measure/lateness.hpp"
#include "programs/measure/pieces_a_second.hpp"

namespace penstock::measure {
namespace {

/// A part that reaches so many times what another does is in use for half of the time at most.
constexpr double far_above = 2;
/// A try is short, and without the ceilings there is no verdict.
constexpr int tries = 4;

}  // namespace

double PartsInTime::rate(unsigned threads, std::optional<double> others,
                         std::function<std::function<std::size_t()>(unsigned)> const& worker) {
  if (!late_.empty()) return 0;
  std::string late;
  for (int turn = 0; turn < tries; ++turn) {
    double const seen = pieces_a_second(threads, each_, stop_, worker, [this] { forget_lateness(devices_); });
    late = lateness_of(devices_);
    bool const bounds_nothing = others && seen >= far_above * *others;
    if (late.empty() || bounds_nothing || stop_.stop_requested()) return seen;
  }
  late_ = late;
  return 0;
}

}  // namespace penstock::measure
