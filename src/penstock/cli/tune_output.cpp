// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/tune_output.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "penstock/cli/bar.hpp"
#include "penstock/cli/facts_json.hpp"
#include "penstock/cli/text_table.hpp"
#include "penstock/cli/verdict_output.hpp"
#include "penstock/core/size_text.hpp"
#include "penstock/report/number_text.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;
using measure::Axis;
using measure::Spread;
using measure::Tuned;
using measure::TunedPoint;

constexpr double giga = 1e9;
/// What is nearer to each other is called as good: no verdict of a single contest is finer.
constexpr double as_good = 0.01;

std::string rate_text(std::vector<double> const& rates) {
  Spread const spread = measure::spread_of(rates);
  return short_number(spread.median / giga) + " GB/s (" + short_number(spread.least / giga) + " to " +
         short_number(spread.most / giga) + ")";
}

std::string percent(double part) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), std::abs(part) < 0.095 ? "%.1f %%" : "%.0f %%", 100 * part);
  return text.data();
}

/// "12345678" as "12,345,678".
std::string with_commas(std::size_t number) {
  std::string text = std::to_string(number);
  constexpr std::size_t group = 3;
  for (std::size_t at = text.size(); at > group; at -= group) text.insert(at - group, ",");
  return text;
}

std::string verdict_of(Tuned const& tuned, std::size_t at) {
  TunedPoint const& point = tuned.tried[at];
  if (!point.error.empty()) return "failed";
  if (point.bytes_per_second.empty()) return "not measured";
  if (at == 0) return tuned.best == at ? "best: where it began" : "where it began";
  if (tuned.best == at) return "best";
  if (point.against >= 1 + as_good) return "kept for a while: " + percent(point.against - 1) + " ahead";
  if (point.against <= 1 - as_good) return "dropped: " + percent(1 - point.against) + " behind";
  return "dropped: as good, no better";
}

std::string settings_text(Tuned const& tuned, TunedPoint const& point) {
  std::string text;
  for (std::size_t i = 0; i < tuned.axes.size(); ++i) {
    if (!tuned.axes[i].swept()) continue;
    text += (text.empty() ? "" : ", ") + tuned.axes[i].name + " " +
            axis_value_text(tuned.axes[i].name, point.point.values[i]);
  }
  return text;
}

/// Of which runs the figure is, if not of all that the table has.
std::string of_the_final(Tuned const& tuned, std::vector<double> const& rates) {
  return tuned.in_turn ? ", by the last " + std::to_string(rates.size()) + " runs; the table has all" : "";
}

/// How the best stands against the defaults, in a sentence.
std::string gain_text(Tuned const& tuned) {
  auto const gain = tuned.gain();
  if (tuned.defaults_rates.empty()) return "the defaults could not be measured here";
  if (tuned.best == std::size_t{0}) {
    bool const others_led = std::any_of(tuned.tried.begin() + 1, tuned.tried.end(),
                                        [](TunedPoint const& one) { return one.against >= 1 + as_good; });
    return std::string("none: nothing that was tried is better than the defaults") +
           (others_led ? "; what was ahead for a while did not stay so" : "");
  }
  if (!gain) return "unknown: there was no time to measure best and defaults in turn";
  std::string text = percent(gain->median - 1) + " (" + percent(gain->least - 1) + " to " + percent(gain->most - 1) +
                     "), by " + std::to_string(std::min(tuned.best_rates.size(), tuned.defaults_rates.size())) +
                     " runs of each, in turn";
  if (gain->median < 1 + as_good) text += ": no faster, but it takes less of the machine";
  return text;
}

Json spread_of(std::vector<double> const& rates) {
  if (rates.empty()) return nullptr;
  Spread const spread = measure::spread_of(rates);
  return {{"median", spread.median / giga}, {"min", spread.least / giga}, {"max", spread.most / giga}};
}

ProfiledRate rate_of(std::vector<double> const& rates) {
  Spread const spread = measure::spread_of(rates);
  return {.median = spread.median / giga, .least = spread.least / giga, .most = spread.most / giga};
}

Json values_of(Tuned const& tuned, TunedPoint const& point) {
  Json values = Json::object();
  for (std::size_t i = 0; i < tuned.axes.size(); ++i) {
    std::string const& value = point.point.values[i];
    bool const number = value.find_first_not_of("0123456789") == std::string::npos;
    values[tuned.axes[i].name] = number ? Json(std::stoull(value)) : Json(value);
  }
  return values;
}

}  // namespace

std::string tune_line(measure::TuneProgress const& now, double within, unsigned width) {
  std::string words = std::to_string(now.points) + " points, " + std::to_string(now.runs) + " runs";
  if (now.best > 0) words += ", best " + short_number(now.best / giga) + " GB/s";
  words += "  " + clock_text(std::max(0.0, within - now.seconds)) + " left at most  " + now.now;
  return bar_line(within > 0 ? std::min(1.0, now.seconds / within) : 1.0, words, width);
}

std::string tuned_as_text(BenchFacts const& facts, Tuned const& tuned) {
  std::string text = facts.device.name + " on " + facts.host.hostname + " (" + std::to_string(facts.cpus) + " CPUs), " +
                     std::string(flavour_name(facts.flavour)) + " default streams\n";
  std::vector<std::vector<std::string>> rows(1);
  std::string fixed;
  for (Axis const& axis : tuned.axes) {
    if (axis.swept()) {
      rows[0].push_back(axis.name);
    } else if (axis.values[0] != "0") {
      fixed += (fixed.empty() ? "" : ", ") + axis.name + " " + axis_value_text(axis.name, axis.values[0]);
    }
  }
  text += fixed + "\n\n";
  std::size_t const settings = rows[0].size();
  for (char const* const name : {"tried as", "verdict", "GB/s", "from", "to", "runs"}) rows[0].emplace_back(name);
  for (std::size_t at = 0; at < tuned.tried.size(); ++at) {
    TunedPoint const& point = tuned.tried[at];
    std::vector<std::string> row;
    for (std::size_t i = 0; i < tuned.axes.size(); ++i) {
      if (tuned.axes[i].swept()) row.push_back(axis_value_text(tuned.axes[i].name, point.point.values[i]));
    }
    row.push_back(point.found_by);
    row.push_back(verdict_of(tuned, at));
    if (!point.bytes_per_second.empty()) {
      Spread const rate = measure::spread_of(point.bytes_per_second);
      for (double const value : {rate.median, rate.least, rate.most}) row.push_back(short_number(value / giga));
      row.push_back(std::to_string(point.bytes_per_second.size()));
    }
    rows.push_back(row);
  }
  text += text_table(rows, settings + 2) + "\n";
  for (TunedPoint const& point : tuned.tried) {
    if (!point.error.empty()) text += "failed: " + settings_text(tuned, point) + " - " + point.error + "\n";
  }
  if (tuned.best) {
    std::string const settings_of_best = settings_text(tuned, tuned.tried[*tuned.best]);
    bool const defaults_are_best = tuned.best == std::size_t{0};
    text += "best      " + std::string(defaults_are_best ? "the defaults: " : "") + settings_of_best + "\n          " +
            rate_text(tuned.best_rates) + of_the_final(tuned, tuned.best_rates) + "\n";
    if (!tuned.defaults_rates.empty() && !defaults_are_best) {
      text += "defaults  " + settings_text(tuned, tuned.tried[0]) + "\n          " + rate_text(tuned.defaults_rates) +
              of_the_final(tuned, tuned.defaults_rates) + "\n";
    }
    text += "gain      " + gain_text(tuned) + "\n";
  }
  text += "tried     " + with_commas(tuned.tried.size()) + " of the " + with_commas(tuned.combinations) +
          " combinations, in " + with_commas(tuned.runs) + (tuned.runs == 1 ? " run and " : " runs and ") +
          short_number(tuned.seconds) + " s" +
          (tuned.all ? "" : "; with more time (--within) it would have looked further") + "\n";
  if (tuned.verdict) text += "\nverdict on the best, by one run more\n" + as_text(*tuned.verdict);
  return text;
}

std::string beyond_text(Tuned const& tuned, std::string const& memory, bool to_save) {
  std::uint64_t const bytes = tuned.beyond.value();
  bool const some_fit = tuned.combinations > 0;
  return (some_fit
              ? "The best are the defaults, and they pin " + size_text(bytes) + ", more than --memory " + memory
              : "All that could be tried pins more than --memory " + memory + ", the defaults " + size_text(bytes)) +
         (to_save ? ": nothing was saved" : "") + ". Allow --memory " + size_option(static_cast<double>(bytes)) +
         (some_fit ? ", or name values that take less, as in --tile 64KiB --depth 2." : ".");
}

std::string tuned_as_json(BenchFacts const& facts, Tuned const& tuned, std::string const& saved) {
  Json axes = Json::array();
  for (Axis const& axis : tuned.axes) axes.push_back({{"name", axis.name}, {"values", axis.values}});
  Json tried = Json::array();
  for (std::size_t at = 0; at < tuned.tried.size(); ++at) {
    TunedPoint const& point = tuned.tried[at];
    tried.push_back({{"axes", values_of(tuned, point)},
                     {"found_by", point.found_by},
                     {"runs", point.bytes_per_second.size()},
                     {"gb_per_s", spread_of(point.bytes_per_second)},
                     {"against", point.against},
                     {"verdict", verdict_of(tuned, at)},
                     {"error", point.error.empty() ? Json(nullptr) : Json(point.error)}});
  }
  auto const gain = tuned.gain();
  Json json{{"schema", 1}, {"kind", "tune"}};
  json.update(as_members(facts));
  json.update(
      Json{{"axes", axes},
           {"tried", tried},
           {"best", tuned.best ? Json(*tuned.best) : Json(nullptr)},
           {"best_gb_per_s", spread_of(tuned.best_rates)},
           {"defaults_gb_per_s", spread_of(tuned.defaults_rates)},
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
  profile.rate = rate_of(tuned.best_rates);
  if (!tuned.defaults_rates.empty()) profile.defaults_rate = rate_of(tuned.defaults_rates);
  return profile;
}

}  // namespace penstock::cli
