// SPDX-License-Identifier: Apache-2.0
#include "tools/tune/tuned.hpp"

#include <algorithm>
#include <utility>

namespace penstock::measure {

std::optional<Spread> Tuned::gain() const {
  if (!in_turn) return std::nullopt;
  std::vector<double> times;
  for (std::size_t i = 0; i < std::min(best_figures.size(), defaults_figures.size()); ++i) {
    double const more = best_figures[i] / defaults_figures[i];
    times.push_back(sought == Aim::throughput ? more : 1 / more);
  }
  if (times.empty()) return std::nullopt;
  return spread_of(std::move(times));
}

}  // namespace penstock::measure
