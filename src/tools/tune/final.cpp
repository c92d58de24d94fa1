// SPDX-License-Identifier: Apache-2.0
#include "tools/tune/final.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "tools/measure/meter.hpp"

namespace penstock::measure {
namespace {

constexpr unsigned repeats = 7;
/// What is nearer to the best than that is as good, however well it is known.
constexpr double least_same = 0.01;

std::size_t winner(Contest const& contest, Landscape const& landscape, std::vector<Standing> const& standings) {
  double most = standings.front().ahead;
  for (Standing const& one : standings) most = std::max(most, one.ahead);
  // What cannot be told apart is the same, however much that is: the user should not change settings for nothing.
  double const same = std::max(least_same, contest.noise(Effort::look) * std::sqrt(2.0 / repeats));
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < standings.size(); ++i) {
    if (!std::isfinite(standings[i].ahead) || standings[i].ahead < most - same) continue;
    if (!best || landscape.cost(standings[i].levels) < landscape.cost(standings[*best].levels)) best = i;
  }
  return best.value_or(0);
}

}  // namespace

Final hold_final(Contest& contest, Landscape const& landscape, std::vector<Levels> const& entrants) {
  std::vector<std::size_t> before;
  for (Levels const& one : entrants) {
    Attempt const* const attempt = contest.find(one);
    before.push_back(attempt == nullptr ? 0 : attempt->scores.size());
  }
  Final result;
  std::size_t best = entrants.size() - 1;
  if (contest.time_for(static_cast<double>(2 * entrants.size()), Effort::look) && !contest.stopped()) {
    auto const standings = contest.hold(entrants, {.least = repeats, .most = repeats}, Effort::look, "final");
    best = winner(contest, landscape, standings);
    result.held = true;
  } else {
    before.assign(entrants.size(), 0);
  }
  auto const scores = [&](std::size_t i) {
    Attempt const* const attempt = contest.find(entrants[i]);
    if (attempt == nullptr || attempt->failed) return std::vector<double>{};
    return std::vector<double>(attempt->scores.begin() + static_cast<std::ptrdiff_t>(before[i]), attempt->scores.end());
  };
  result.defaults_scores = scores(0);
  result.best_scores = scores(best);
  // What was ahead once, and is behind by all that is known, is no reason to leave the defaults.
  if (!result.held && !result.best_scores.empty() && !result.defaults_scores.empty() &&
      spread_of(result.best_scores).median < spread_of(result.defaults_scores).median) {
    best = 0;
    result.best_scores = result.defaults_scores;
  }
  if (!result.best_scores.empty()) result.best = entrants[best];
  return result;
}

}  // namespace penstock::measure
