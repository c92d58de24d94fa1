// SPDX-License-Identifier: Apache-2.0
#include "programs/tune/tuned.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "programs/command/results.hpp"
#include "programs/measure/meter.hpp"

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

namespace penstock::cli {
namespace {

using measure::Spread;
using measure::Tuned;
using measure::TunedPoint;

constexpr double giga = 1e9;

std::optional<ProfiledSpread> spread_of(std::vector<double> const& figures, double unit) {
  if (figures.empty()) return std::nullopt;
  Spread const spread = measure::spread_of(figures);
  return ProfiledSpread{.median = spread.median / unit, .least = spread.least / unit, .most = spread.most / unit};
}

}  // namespace

Profile profile_of(BenchFacts const& facts, Tuned const& tuned) {
  TunedPoint const& best = tuned.tried.at(tuned.best.value());
  auto const value = [&](std::string const& name) {
    for (std::size_t i = 0; i < tuned.axes.size(); ++i) {
      if (tuned.axes[i].name == name) return best.point.values[i];
    }
    return std::string();
  };
  Profile profile;
  profile.version = facts.version;
  profile.date = facts.date;
  profile.machine = {.cpu = facts.host.cpu_model,
                     .cpus = facts.cpus,
                     .device = facts.device.name,
                     .driver = facts.device.driver,
                     .flavour = std::string(flavour_name(facts.flavour))};
  profile.job = {.streams = value("streams"), .sink = value("sink")};
  if (Job const* const job = best.point.setting.job; job != nullptr) {
    profile.job.name = job->name;
    for (JobOption const& option : job->options) {
      if (option.listed) profile.job.options[option.name] = value(option.name);
    }
  } else {
    profile.job.work = value("work");
    profile.job.fill = value("fill");
    profile.job.direction = value("direction");
  }
  profile.tile_bytes = best.point.setting.tile;
  profile.options = tuned.options;
  if (tuned.sought == Aim::throughput) {
    profile.rate = spread_of(tuned.best_figures, giga);
    profile.defaults_rate = spread_of(tuned.defaults_figures, giga);
  } else {
    profile.latency = {.load_tiles_per_second = tuned.load_tiles_per_second,
                       .p99 = spread_of(tuned.best_figures, 1).value(),
                       .defaults_p99 = spread_of(tuned.defaults_figures, 1)};
  }
  return profile;
}

}  // namespace penstock::cli
