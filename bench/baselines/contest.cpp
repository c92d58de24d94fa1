// SPDX-License-Identifier: Apache-2.0
#include "contest.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>

#include "cuda.hpp"

namespace baselines {
namespace {

using Clock = std::chrono::steady_clock;
using penstock::measure::spread_of;

/// Pinned memory for all baselines, in and out, allocated once.
class Arena {
 public:
  explicit Arena(std::size_t bytes) : floats_(bytes / sizeof(float)) {
    check(cudaMallocHost(reinterpret_cast<void**>(&memory_), 2 * bytes));
    fill({memory_, floats_}, 0);
  }
  Arena(Arena const&) = delete;
  Arena& operator=(Arena const&) = delete;
  ~Arena() { complain(cudaFreeHost(memory_)); }
  float const* inputs() const noexcept { return memory_; }
  float* outputs() const noexcept { return memory_ + floats_; }

 private:
  float* memory_ = nullptr;
  std::size_t floats_;
};

/// Minimum number of rounds, however long they take.
constexpr unsigned least_rounds = 3;

struct Scores {
  double tiles_per_second;
  double cpu_us_per_tile;
};

Scores run_once(std::string const& name, Way const& way, Arena const& arena, std::size_t bytes, Times times) try {
  spoil({arena.outputs(), way.tiles * bytes / sizeof(float)});
  Referee referee(arena.inputs(), arena.outputs(), bytes, way.tiles, times);
  way.run(referee);
  auto const metered = referee.result();
  return {metered.tiles_per_second(), 1e6 * metered.cpu_seconds / metered.tiles};
} catch (std::exception const& error) {
  throw std::runtime_error(name + (way.knobs.empty() ? "" : " (" + way.knobs + ")") + ": " + error.what());
}

Times times_of(double window_seconds) {
  auto const window = std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * window_seconds));
  return {.warm_up = window / 4, .window = window};
}

/// Duration of a run: three times as long in rounds as in the search, where there are about twice as many.
double window_of(std::vector<Contestant> const& contestants, ContestOptions const& options) {
  // The time to start threads and streams, and to compare the first tiles in all bits.
  constexpr double beside = 0.09;
  constexpr double near = 12;
  double searched = near;
  for (Contestant const& contestant : contestants) {
    searched += static_cast<double>(contestant.ways(options.sizes.front()).size());
  }
  double const rounds = options.rounds * static_cast<double>(contestants.size());
  double const seconds = options.seconds / static_cast<double>(options.sizes.size()) - beside * (searched + rounds);
  return std::clamp(seconds / 1.25 / (searched / 3 + rounds), 0.02, 2.0);
}

std::size_t arena_bytes(std::vector<Contestant> const& contestants, std::vector<std::size_t> const& sizes) {
  std::size_t most = 1;
  for (std::size_t const bytes : sizes) {
    for (Contestant const& contestant : contestants) {
      for (Way const& way : contestant.ways(bytes)) most = std::max(most, way.tiles * bytes);
    }
  }
  return most;
}

}  // namespace

Standing const& SizeResult::best_baseline() const {
  Standing const* best = nullptr;
  double most = -1;
  for (Standing const& standing : standings) {
    double const median = spread_of(standing.tiles_per_second).median;
    if (standing.penstock || median <= most) continue;
    most = median;
    best = &standing;
  }
  if (best == nullptr) throw std::runtime_error("there is no baseline");
  return *best;
}

penstock::measure::Spread SizeResult::against_best(Standing const& standing) const {
  Standing const& best = best_baseline();
  std::vector<double> ratios;
  for (std::size_t round = 0; round < standing.tiles_per_second.size(); ++round) {
    ratios.push_back(standing.tiles_per_second[round] / best.tiles_per_second[round]);
  }
  return spread_of(ratios);
}

bool SizeResult::penstock_keeps_up() const {
  return std::any_of(standings.begin(), standings.end(),
                     [&](Standing const& standing) { return standing.penstock && against_best(standing).most >= 1; });
}

std::vector<SizeResult> hold_contest(std::vector<Contestant> const& contestants, ContestOptions const& options,
                                     std::function<void(std::string const& now)> const& progress) {
  auto const began = Clock::now();
  Arena const arena(arena_bytes(contestants, options.sizes));
  double const window = window_of(contestants, options);
  std::vector<SizeResult> results;
  for (std::size_t const bytes : options.sizes) {
    SizeResult& result = results.emplace_back(SizeResult{.bytes = bytes});
    for (Contestant const& contestant : contestants) {
      Way best;
      double most = -1;
      std::vector<Way> ways = contestant.ways(bytes);
      for (unsigned step = 1; !ways.empty(); ++step) {
        for (Way const& way : ways) {
          progress("search, " + contestant.name + ", " + way.knobs);
          if (ways.size() == 1 && step == 1) {
            best = way;
            break;
          }
          double const score = run_once(contestant.name, way, arena, bytes, times_of(window / 3)).tiles_per_second;
          if (score <= most) continue;
          most = score;
          best = way;
        }
        ways = best.near ? best.near(step) : std::vector<Way>{};
      }
      result.standings.push_back({.name = contestant.name, .penstock = contestant.penstock, .way = best});
    }
  }
  std::mt19937 shuffler(1);
  std::vector<std::size_t> order(contestants.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (unsigned round = 0; round < options.rounds; ++round) {
    bool const late = std::chrono::duration<double>(Clock::now() - began).count() > options.seconds;
    if (late && round >= least_rounds) break;
    for (SizeResult& result : results) {
      std::shuffle(order.begin(), order.end(), shuffler);
      for (std::size_t const i : order) {
        Standing& standing = result.standings[i];
        progress("round " + std::to_string(round + 1) + " of " + std::to_string(options.rounds) + ", " + standing.name);
        Scores const scores = run_once(standing.name, standing.way, arena, result.bytes, times_of(window));
        standing.tiles_per_second.push_back(scores.tiles_per_second);
        standing.cpu_us_per_tile.push_back(scores.cpu_us_per_tile);
      }
    }
  }
  return results;
}

}  // namespace baselines
