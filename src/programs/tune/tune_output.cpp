// SPDX-License-Identifier: Apache-2.0
#include "programs/tune/tune_output.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/core/number_text.hpp"
#include "observe/option_members.hpp"
#include "programs/command/progress.hpp"
#include "programs/command/results.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;
using measure::Axis;
using measure::Spread;
using measure::Tuned;
using measure::TunedPoint;

constexpr double bytes_per_gigabyte = 1e9;
/// Points that are nearer to each other than this are called as good: no verdict of a single contest is finer.
constexpr double as_good = 0.01;

bool for_latency(Tuned const& tuned) {
  return tuned.sought == Aim::latency;
}

/// A figure in the unit of the output.
std::string number_text(Aim sought, double figure) {
  return short_number(sought == Aim::latency ? figure : figure / bytes_per_gigabyte);
}

std::string figure_text(Aim sought, double figure) {
  return sought == Aim::latency ? "p99 " + number_text(sought, figure) + " us" : number_text(sought, figure) + " GB/s";
}

std::string figures_text(Aim sought, std::vector<double> const& figures) {
  Spread const spread = measure::spread_of(figures);
  return figure_text(sought, spread.median) + " (" + number_text(sought, spread.least) + " to " +
         number_text(sought, spread.most) + ")";
}

std::string percent(double part) {
  return formatted(std::abs(part) < 0.095 ? "%.1f %%" : "%.0f %%", 100 * part);
}

/// "12345678" as "12,345,678".
std::string with_commas(std::size_t number) {
  std::string text = std::to_string(number);
  constexpr std::size_t group = 3;
  for (std::size_t at = text.size(); at > group; at -= group) text.insert(at - group, ",");
  return text;
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

/// The runs that the figure is of, if they are not all that the table has.
std::string of_the_final(Tuned const& tuned, std::vector<double> const& figures) {
  return tuned.in_turn ? ", by the last " + std::to_string(figures.size()) + " runs; the table has all" : "";
}

/// A sentence that compares the best with the defaults.
std::string gain_text(Tuned const& tuned) {
  auto const gain = tuned.gain();
  if (tuned.defaults_figures.empty()) return "the defaults could not be measured here";
  if (tuned.best == std::size_t{0}) {
    bool const others_led = std::any_of(tuned.tried.begin() + 1, tuned.tried.end(),
                                        [](TunedPoint const& one) { return one.against >= 1 + as_good; });
    return std::string("none: nothing that was tried is better than the defaults") +
           (others_led ? "; what was ahead for a while did not stay so" : "");
  }
  if (!gain) return "unknown: there was no time to measure best and defaults in turn";
  // A gain in latency is the part by which it is less.
  auto const part = [&](double times) { return percent(for_latency(tuned) ? 1 - 1 / times : times - 1); };
  std::string text = part(gain->median) + (for_latency(tuned) ? " less" : "") + " (" + part(gain->least) + " to " +
                     part(gain->most) + "), by " +
                     std::to_string(std::min(tuned.best_figures.size(), tuned.defaults_figures.size())) +
                     " runs of each, in turn";
  if (gain->median < 1 + as_good) text += ": no better, but it takes less of the machine";
  return text;
}

/// The spread if `sought` is what was sought; else null.
Json spread_as_json(Tuned const& tuned, Aim sought, std::vector<double> const& figures) {
  if (tuned.sought != sought) return nullptr;
  return as_spread(figures, sought == Aim::throughput ? 1 / bytes_per_gigabyte : 1);
}

Json values_of(Tuned const& tuned, TunedPoint const& point) {
  Json values = Json::object();
  for (std::size_t i = 0; i < tuned.axes.size(); ++i) {
    values[tuned.axes[i].name] = axis_value_as_json(point.point.values[i]);
  }
  return values;
}

}  // namespace

std::string became_text(measure::Tuned const& tuned, std::size_t at) {
  TunedPoint const& point = tuned.tried[at];
  if (!point.error.empty()) return "failed";
  if (point.figures.empty()) return "not measured";
  if (at == 0) return tuned.best == at ? "best: where it began" : "where it began";
  if (tuned.best == at) return "best";
  if (point.against >= 1 + as_good) return "kept for a while: " + percent(point.against - 1) + " ahead";
  if (point.against <= 1 - as_good) return "dropped: " + percent(1 - point.against) + " behind";
  return "dropped: as good, no better";
}

std::string tune_line(measure::TuneProgress const& now, double within, unsigned width) {
  std::string words = count_text(now.points, "point") + ", " + count_text(now.runs, "run");
  if (now.best > 0) words += ", best " + figure_text(now.sought, now.best);
  words += "  " + clock_text(std::max(0.0, within - now.seconds)) + " left at most  " + now.now;
  return bar_line(within > 0 ? std::min(1.0, now.seconds / within) : 1.0, words, width);
}

std::string tuned_as_text(BenchFacts const& facts, Tuned const& tuned) {
  std::string text = device_text(facts.device) + " on " + facts.host.hostname + " (" + std::to_string(facts.cpus) +
                     " CPUs), " + std::string(flavour_name(facts.flavour)) + " default streams\n";
  std::vector<std::vector<std::string>> rows(1);
  std::string fixed;
  for (Axis const& axis : tuned.axes) {
    if (axis.swept()) {
      rows[0].push_back(axis.name);
    } else if (axis.values[0] != "0") {
      fixed += (fixed.empty() ? "" : ", ") + axis.name + " " + axis_value_text(axis.name, axis.values[0]);
    }
  }
  text += fixed + "\n";
  if (tuned.load_tiles_per_second > 0) {
    text += "latency with " + short_number(tuned.load_tiles_per_second) + " tiles a second\n";
  }
  text += "\n";
  std::size_t const settings = rows[0].size();
  char const* const figure = for_latency(tuned) ? "p99 us" : "GB/s";
  for (char const* const name : {"tried as", "verdict", figure, "from", "to", "runs"}) rows[0].emplace_back(name);
  for (std::size_t at = 0; at < tuned.tried.size(); ++at) {
    TunedPoint const& point = tuned.tried[at];
    std::vector<std::string> row;
    for (std::size_t i = 0; i < tuned.axes.size(); ++i) {
      if (tuned.axes[i].swept()) row.push_back(axis_value_text(tuned.axes[i].name, point.point.values[i]));
    }
    row.push_back(point.found_by);
    row.push_back(became_text(tuned, at));
    if (!point.figures.empty()) {
      Spread const all = measure::spread_of(point.figures);
      for (double const value : {all.median, all.least, all.most}) row.push_back(number_text(tuned.sought, value));
      row.push_back(std::to_string(point.figures.size()));
    }
    rows.push_back(row);
  }
  text += text_table(rows, settings + 2) + "\n";
  for (TunedPoint const& point : tuned.tried) {
    if (!point.error.empty()) text += "failed: " + settings_text(tuned, point) + " - " + in_options(point.error) + "\n";
  }
  if (tuned.best) {
    std::string const settings_of_best = settings_text(tuned, tuned.tried[*tuned.best]);
    bool const defaults_are_best = tuned.best == std::size_t{0};
    text += "best      " + std::string(defaults_are_best ? "the defaults: " : "") + settings_of_best + "\n          " +
            figures_text(tuned.sought, tuned.best_figures) + of_the_final(tuned, tuned.best_figures) + "\n";
    if (!tuned.defaults_figures.empty() && !defaults_are_best) {
      text += "defaults  " + settings_text(tuned, tuned.tried[0]) + "\n          " +
              figures_text(tuned.sought, tuned.defaults_figures) + of_the_final(tuned, tuned.defaults_figures) + "\n";
    }
    text += "gain      " + gain_text(tuned) + "\n";
  }
  text += "tried     " + with_commas(tuned.tried.size()) + " of the " + with_commas(tuned.combinations) +
          " combinations, in " + with_commas(tuned.runs) + (tuned.runs == 1 ? " run and " : " runs and ") +
          short_number(tuned.seconds) + " s" +
          (tuned.all || tuned.beyond ? "" : "; with more time (--within) it would have looked further") + "\n";
  if (!tuned.too_slow.empty()) text += "note: what ran on a late clock does not count. " + tuned.too_slow + "\n";
  if (tuned.verdict) text += "\nverdict on the best, by one run more\n" + as_text(*tuned.verdict);
  return text;
}

std::vector<Json> rows_of(BenchFacts const& facts, Tuned const& tuned) {
  std::string const figure = for_latency(tuned) ? "p99_us" : "gb_per_s";
  std::vector<Json> rows;
  for (std::size_t at = 0; at < tuned.tried.size(); ++at) {
    TunedPoint const& point = tuned.tried[at];
    Json row = values_of(tuned, point);
    row.update({{"found_by", point.found_by}, {"runs", point.figures.size()}});
    Json const spread = spread_as_json(tuned, tuned.sought, point.figures);
    for (auto const& [end, member] : {std::pair{"", "median"}, std::pair{"_min", "min"}, std::pair{"_max", "max"}})
      row[figure + end] = spread.is_null() ? Json(nullptr) : spread.at(member);
    row.update({{"against", point.against},
                {"verdict", became_text(tuned, at)},
                {"best", tuned.best == at},
                {"device_name", facts.device.name},
                {"date", facts.date},
                {"error", or_null(point.error)}});
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> sentences_on(Tuned const& tuned) {
  std::vector<std::string> sentences;
  if (tuned.best) {
    sentences.push_back("Best: " + settings_text(tuned, tuned.tried[*tuned.best]) + ", " +
                        figures_text(tuned.sought, tuned.best_figures) + ".");
    sentences.push_back("Gain: " + gain_text(tuned) + ".");
  }
  if (!tuned.too_slow.empty()) sentences.push_back(tuned.too_slow);
  if (tuned.verdict) sentences.push_back(describe(*tuned.verdict));
  return sentences;
}

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
  json.update(Json{
      {"for", to_string(tuned.sought)},
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
      {"wall_s", tuned.seconds},
      {"all", tuned.all},
      {"too_slow", or_null(tuned.too_slow)},
      {"verdict", tuned.verdict ? as_members(*tuned.verdict) : Json(nullptr)},
      {"profile", tuned.best && !tuned.beyond ? Json::parse(profile_text(profile_of(facts, tuned))) : Json(nullptr)},
      {"saved", saved.empty() ? Json(nullptr) : Json(saved)}});
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string beyond_text(Tuned const& tuned, std::string const& memory, bool to_save) {
  std::uint64_t const bytes = tuned.beyond.value();
  bool const some_fit = tuned.combinations > 0;
  return (some_fit
              ? "The best are the defaults, and they pin " + size_text(bytes) + ", more than --memory " + memory
              : "All that could be tried pins more than --memory " + memory + ", the defaults " + size_text(bytes)) +
         (to_save ? ": nothing was saved" : "") + ". Allow --memory " + size_option(static_cast<double>(bytes)) +
         (some_fit ? ", or name values that take less, as in --tile 64KiB --slots 2." : ".");
}

}  // namespace penstock::cli
