// SPDX-License-Identifier: Apache-2.0
#include "tools/tune/tuned.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/command/results.hpp"
#include "tools/measure/meter.hpp"
#include "tools/tune/tune_output.hpp"

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

using Json = nlohmann::ordered_json;
using measure::Axis;
using measure::Spread;
using measure::Tuned;
using measure::TunedPoint;

constexpr double giga = 1e9;

std::optional<ProfiledSpread> spread_of(std::vector<double> const& figures, double unit) {
  if (figures.empty()) return std::nullopt;
  Spread const spread = measure::spread_of(figures);
  return ProfiledSpread{.median = spread.median / unit, .least = spread.least / unit, .most = spread.most / unit};
}

/// Of what was sought; null of the other.
Json spread_as_json(Tuned const& tuned, Aim sought, std::vector<double> const& figures) {
  if (tuned.sought != sought) return nullptr;
  return as_spread(figures, sought == Aim::throughput ? 1 / giga : 1);
}

Json values_of(Tuned const& tuned, TunedPoint const& point) {
  Json values = Json::object();
  for (std::size_t i = 0; i < tuned.axes.size(); ++i) {
    values[tuned.axes[i].name] = axis_value_as_json(point.point.values[i]);
  }
  return values;
}

}  // namespace

std::string tuned_as_json(BenchFacts const& facts, Tuned const& tuned, std::string const& saved) {
  Json axes = Json::array();
  for (Axis const& axis : tuned.axes) axes.push_back({{"name", axis.name}, {"values", axis.values}});
  Json tried = Json::array();
  for (std::size_t at = 0; at < tuned.tried.size(); ++at) {
    TunedPoint const& point = tuned.tried[at];
    tried.push_back({{"axes", values_of(tuned, point)},
                     {"found_by", point.found_by},
                     {"runs", point.figures.size()},
                     {"gb_per_s", spread_as_json(tuned, Aim::throughput, point.figures)},
                     {"p99_us", spread_as_json(tuned, Aim::latency, point.figures)},
                     {"against", point.against},
                     {"verdict", became_text(tuned, at)},
                     {"error", point.error.empty() ? Json(nullptr) : Json(point.error)}});
  }
  auto const gain = tuned.gain();
  Json json{{"schema", 1}, {"kind", "tune"}};
  json.update(as_members(facts));
  json.update(
      Json{{"for", to_string(tuned.sought)},
           {"load_tiles_per_s", tuned.load_tiles_per_second > 0 ? Json(tuned.load_tiles_per_second) : Json(nullptr)},
           {"axes", axes},
           {"tried", tried},
           {"best", tuned.best ? Json(*tuned.best) : Json(nullptr)},
           {"best_gb_per_s", spread_as_json(tuned, Aim::throughput, tuned.best_figures)},
           {"defaults_gb_per_s", spread_as_json(tuned, Aim::throughput, tuned.defaults_figures)},
           {"best_p99_us", spread_as_json(tuned, Aim::latency, tuned.best_figures)},
           {"defaults_p99_us", spread_as_json(tuned, Aim::latency, tuned.defaults_figures)},
           {"gain", gain ? Json{{"median", gain->median}, {"min", gain->least}, {"max", gain->most}} : Json(nullptr)},
           {"combinations", tuned.combinations},
           {"runs", tuned.runs},
           {"seconds", tuned.seconds},
           {"all", tuned.all},
           {"verdict", tuned.verdict ? as_members(*tuned.verdict) : Json(nullptr)},
           {"profile", tuned.best && !tuned.beyond ? Json::parse(text_of(profile_of(facts, tuned))) : Json(nullptr)},
           {"saved", saved.empty() ? Json(nullptr) : Json(saved)}});
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

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
  profile.job = {.work = value("work"),
                 .fill = value("fill"),
                 .direction = value("direction"),
                 .streams = value("streams"),
                 .sink = value("sink")};
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
