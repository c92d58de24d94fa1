// SPDX-License-Identifier: Apache-2.0
#include "programs/tune/contest.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "engine/core/quantile.hpp"
#include "programs/measure/meter.hpp"

namespace penstock::measure {
namespace {

/// Noise that is assumed until it was measured a few times, and the least that is ever assumed.
constexpr double usual_noise = 0.03;
constexpr double least_noise = 0.004;
constexpr std::size_t few = 5;
/// Standard errors by which a point must be behind to be out. This loses one in forty of the points that are as good.
constexpr double beaten_by = 2;
/// A lead smaller than this is not worth measuring for.
constexpr double worthwhile = 0.01;
/// Duration of a look in glances, until one was measured.
constexpr double look_in_glances = 3;

using Logs = std::vector<std::optional<double>>;

/// The median over the rounds in which both were measured: with three or more of them a single outlier does not matter.
std::optional<double> ahead_of(Logs const& one, Logs const& other) {
  std::vector<double> ahead;
  for (std::size_t round = 0; round < one.size(); ++round) {
    if (one[round] && other[round]) ahead.push_back(*one[round] - *other[round]);
  }
  if (ahead.empty()) return std::nullopt;
  return spread_of(std::move(ahead)).median;
}

/// Number of measurements of each entrant in the final.
constexpr unsigned final_rounds = 7;
/// A point that is nearer to the best than this is as good, however well it is known.
constexpr double least_same = 0.01;

std::size_t winner(Contest const& contest, Landscape const& landscape, std::vector<Standing> const& standings) {
  double most = standings.front().ahead;
  for (Standing const& one : standings) most = std::max(most, one.ahead);
  // Points that cannot be told apart are the same, however large the noise: the user should not change settings for
  // nothing.
  double const same = std::max(least_same, contest.noise(Effort::look) * std::sqrt(2.0 / final_rounds));
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < standings.size(); ++i) {
    if (!std::isfinite(standings[i].ahead) || standings[i].ahead < most - same) continue;
    if (!best || landscape.cost(standings[i].levels) < landscape.cost(standings[*best].levels)) best = i;
  }
  return best.value_or(0);
}

}  // namespace

std::vector<Levels> spread_points(std::vector<SearchAxis> const& axes, std::size_t count, std::mt19937& random) {
  std::vector<Levels> points(count, Levels(axes.size()));
  std::vector<std::size_t> parts(count);
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    std::iota(parts.begin(), parts.end(), std::size_t{0});
    std::shuffle(parts.begin(), parts.end(), random);
    for (std::size_t i = 0; i < count; ++i) points[i][axis] = parts[i] * axes[axis].count / count;
  }
  return points;
}

std::optional<double> Contest::measure(Levels const& levels, Effort effort, std::string const& found_by) {
  if (stopped() || !time_for(1, effort)) return std::nullopt;
  auto const [found, added] = where_.try_emplace(levels, attempts_.size());
  if (added) attempts_.push_back({.levels = levels, .found_by = found_by});
  std::size_t const at = found->second;
  if (attempts_[at].failed) return std::nullopt;
  double const before = landscape_.elapsed();
  auto const score = landscape_.measure(levels, effort);
  double& longest = habit(effort).longest;
  constexpr double forget = 0.9;
  longest = std::max(landscape_.elapsed() - before, forget * longest);
  ++runs_;
  if (score && *score > 0) {
    attempts_[at].scores.push_back(*score);
    return std::log(*score);
  }
  // A run that was asked to stop does not count as a failure of its point.
  attempts_[at].failed = !stopped();
  return std::nullopt;
}

std::vector<Standing> Contest::hold(std::vector<Levels> const& entrants, Rounds rounds, Effort effort,
                                    std::string const& found_by) {
  constexpr double nowhere = -std::numeric_limits<double>::infinity();
  std::vector<Standing> standings;
  for (Levels const& levels : entrants) standings.push_back({.levels = levels, .ahead = nowhere});
  std::vector<Logs> logs(entrants.size());
  std::size_t reference = 0;
  for (unsigned round = 0; round < rounds.most; ++round) {
    auto const left = std::count_if(standings.begin(), standings.end(), [](Standing const& one) { return one.in; });
    if (round >= rounds.least && left < 2) break;
    if (round > 0 && !time_for(static_cast<double>(left), effort)) break;
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      // The order alternates, so that the entrant that goes first has no advantage.
      std::size_t const turn = round % 2 == 0 ? i : entrants.size() - 1 - i;
      bool const wanted = standings[turn].in || turn == reference;
      logs[turn].push_back(wanted ? measure(entrants[turn], effort, found_by) : std::nullopt);
      if (round > 0 && logs[turn][round] && logs[turn][round - 1]) {
        habit(effort).strayed.push_back(*logs[turn][round] - *logs[turn][round - 1]);
      }
    }
    while (reference < entrants.size() && !ahead_of(logs[reference], logs[reference])) ++reference;
    if (reference == entrants.size()) break;
    double best = nowhere;
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      standings[i].ahead = ahead_of(logs[i], logs[reference]).value_or(nowhere);
      if (standings[i].in) best = std::max(best, standings[i].ahead);
    }
    if (round + 1 < rounds.least) continue;
    double const error = noise(effort) * std::sqrt(2.0 / (round + 1));
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      Attempt const* const attempt = find(entrants[i]);
      bool const known = attempt != nullptr && !attempt->failed;
      double least = best - beaten_by * error;
      if (rounds.to_beat_the_first && i != reference) {
        least = std::max({least, round == 0 ? -error : 0, worthwhile - error});
      }
      standings[i].in = standings[i].in && known && standings[i].ahead >= least;
    }
  }
  for (Standing& standing : standings) {
    if (standing.ahead == nowhere) standing.in = false;
    auto const found = where_.find(standing.levels);
    if (found != where_.end() && standing.ahead != nowhere) attempts_[found->second].against = std::exp(standing.ahead);
  }
  return standings;
}

double Contest::seconds(Effort effort) const {
  bool const known = effort == Effort::glance || look_.longest > 0;
  return known ? habit(effort).longest : look_in_glances * glance_.longest;
}

bool Contest::time_for(double measurements, Effort effort) const {
  return landscape_.elapsed() + measurements * seconds(effort) <= deadline_;
}

double Contest::noise(Effort effort) const {
  std::vector<double> strayed = habit(effort).strayed;
  if (strayed.size() < few) return usual_noise;
  for (double& one : strayed) one = std::abs(one);
  // The median of normal errors is 0.6745 standard deviations; and each here is the difference of two measurements.
  return std::max(least_noise, quantile<double>(strayed, 0.5) / 0.6745 / std::sqrt(2.0));
}

Attempt const* Contest::find(Levels const& levels) const {
  auto const found = where_.find(levels);
  return found == where_.end() ? nullptr : &attempts_[found->second];
}

Final hold_final(Contest& contest, Landscape const& landscape, std::vector<Levels> const& entrants) {
  std::vector<std::size_t> before;
  for (Levels const& one : entrants) {
    Attempt const* const attempt = contest.find(one);
    before.push_back(attempt == nullptr ? 0 : attempt->scores.size());
  }
  Final result;
  std::size_t best = entrants.size() - 1;
  if (contest.time_for(static_cast<double>(2 * entrants.size()), Effort::look) && !contest.stopped()) {
    auto const standings = contest.hold(entrants, {.least = final_rounds, .most = final_rounds}, Effort::look, "final");
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
  // A lead in one contest is no reason to leave the defaults, if all scores together are behind.
  if (!result.held && !result.best_scores.empty() && !result.defaults_scores.empty() &&
      spread_of(result.best_scores).median < spread_of(result.defaults_scores).median) {
    best = 0;
    result.best_scores = result.defaults_scores;
  }
  if (!result.best_scores.empty()) result.best = entrants[best];
  return result;
}

}  // namespace penstock::measure
