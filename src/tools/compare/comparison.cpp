// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/comparison.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "penstock/core/error.hpp"
#include "tools/command/ending.hpp"
#include "tools/command/results_text.hpp"
#include "tools/compare/comparison_parts.hpp"
#include "tools/measure/meter.hpp"

namespace penstock::cli {

using Json = nlohmann::ordered_json;

std::string value_text(Json const& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void ComparedSide::take(Json const& point) {
  last = point;
  if (!point.at("error").is_null()) {
    error = point.at("error").get<std::string>();
    return;
  }
  tiles.push_back(point.at("tiles_per_s").at("median").get<double>());
  cpu.push_back(point.at("cpu_s_per_gb").at("median").get<double>());
}

double ComparedSide::gigabytes() const {
  if (tiles.empty() || !error.empty()) return 0;
  return last.at("gb_per_s").at("median").get<double>() / last.at("tiles_per_s").at("median").get<double>();
}

std::vector<double> ComparedPoint::speed_ups() const {
  std::vector<double> all;
  for (std::size_t i = 0; i < legacy.tiles.size(); ++i) all.push_back(per_thread.tiles[i] / legacy.tiles[i]);
  return all;
}

std::string ComparedPoint::place_without(std::string const& left_out) const {
  std::string text;
  for (auto const& [name, value] : axes.items()) {
    if (name == left_out) continue;
    text += (text.empty() ? "" : ", ") + name + " " + axis_value_text(name, value_text(value));
  }
  return text;
}

std::uint64_t Comparison::Parts::most_threads() const {
  std::uint64_t most = 0;
  for (ComparedPoint const& point : points) most = std::max(most, point.threads());
  return most;
}

std::uint64_t Comparison::Parts::threads_everywhere() const {
  auto const found = first.at("options").find("threads");
  return found != first.at("options").end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::string Comparison::Parts::option(char const* name) const {
  auto const found = first.at("options").find(name);
  return found != first.at("options").end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::vector<ComparedPoint const*> Comparison::Parts::claimed() const {
  std::uint64_t const most = most_threads();
  std::vector<ComparedPoint const*> found;
  for (ComparedPoint const& point : points) {
    if (point.threads() == most && !point.own_streams) found.push_back(&point);
  }
  return found;
}

namespace {

/// A text of the results' `penstock`; empty if it is null.
std::string build_text(Json const& results, char const* name) {
  Json const& value = results.at("penstock").at(name);
  return value.is_null() ? "" : value.get<std::string>();
}

/// Throws: Error, unless these are of both flavours of one build, as far as they say.
void expect_one_build(Json const& legacy, Json const& per_thread) {
  for (auto const& [results, flavour] : {std::pair(&legacy, Flavour::legacy), {&per_thread, Flavour::per_thread}}) {
    std::string const said = build_text(*results, "flavour");
    if (said == flavour_name(flavour)) continue;
    throw Error(ErrorKind::system, "What should be the " + std::string(flavour_name(flavour)) + " program says it is " +
                                       said + ": put penstock and penstock-legacy of one build into one folder.");
  }
  for (char const* name : {"version", "commit"}) {
    std::string const old = build_text(legacy, name), fresh = build_text(per_thread, name);
    if (old == fresh || old.empty() || fresh.empty()) continue;
    std::string differs = "penstock-legacy is of ";
    differs.append(name).append(" ").append(old).append(", penstock of ").append(fresh);
    throw Error(ErrorKind::system,
                differs + ": build both from one source, as cmake --build does, and put them into one folder.");
  }
}

}  // namespace

Comparison::Comparison() : parts_(std::make_unique<Parts>()) {}
Comparison::~Comparison() = default;

void Comparison::add(std::string_view legacy, std::string_view per_thread) try {
  Json const old = Json::parse(legacy), fresh = Json::parse(per_thread);
  expect_one_build(old, fresh);
  auto& points = parts_->points;
  if (points.empty()) {
    parts_->first = fresh;
    parts_->legacy_commit = build_text(old, "commit");
    for (Json const& point : fresh.at("points")) {
      Json const& axes = point.at("axes");
      bool const own = axes.value("streams", parts_->option("streams")) == "own";
      points.push_back({.axes = axes, .own_streams = own});
    }
  }
  Json const& olds = old.at("points");
  Json const& freshs = fresh.at("points");
  if (olds.size() != points.size() || freshs.size() != points.size()) {
    throw Error(ErrorKind::system, "The two programs measured different points: are both of one build?");
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (olds[i].at("axes") != points[i].axes || freshs[i].at("axes") != points[i].axes) {
      throw Error(ErrorKind::system, "The two programs measured different points: are both of one build?");
    }
    if (!points[i].error().empty()) continue;
    points[i].legacy.take(olds[i]);
    points[i].per_thread.take(freshs[i]);
  }
} catch (nlohmann::json::exception const& problem) {
  throw Error(ErrorKind::system, unreadable_results(problem));
}

std::string Comparison::doubt() const {
  std::string const commit = build_text(parts_->first, "commit");
  if (commit == parts_->legacy_commit) return "";
  bool const legacy = parts_->legacy_commit.empty();
  return std::string(legacy ? "penstock-legacy" : "penstock") + " does not say of which commit it is, and " +
         (legacy ? "penstock" : "penstock-legacy") + " is of " + (legacy ? commit : parts_->legacy_commit) +
         ": make sure that both were built from one source.";
}

bool Comparison::all_measured() const {
  return std::all_of(parts_->points.begin(), parts_->points.end(),
                     [](ComparedPoint const& point) { return point.measured(); });
}

std::string Comparison::what_failed() const {
  std::vector<std::string> found;
  for (ComparedPoint const& point : parts_->points) {
    if (point.measured()) continue;
    bool const both = !point.legacy.error.empty() && !point.per_thread.error.empty();
    found.push_back(point.where() + (both                          ? " in both builds"
                                     : !point.legacy.error.empty() ? " in the legacy build"
                                                                   : " in the per-thread build"));
  }
  if (found.empty()) return "";
  if (parts_->points.size() == 1) return "The only point was not measured" + found[0] + ".";
  std::string text = std::to_string(found.size()) + " of " + std::to_string(parts_->points.size()) + " points " +
                     (found.size() == 1 ? "was" : "were") + " not measured: ";
  for (std::size_t i = 0; i < found.size(); ++i) text += (i == 0 ? "" : "; ") + found[i];
  return text + ".";
}

bool Comparison::holds(double expected) const {
  auto const claimed = parts_->claimed();
  return !claimed.empty() && std::all_of(claimed.begin(), claimed.end(), [&](ComparedPoint const* point) {
    return point->measured() && measure::spread_of(point->speed_ups()).median >= expected;
  });
}

std::vector<std::size_t> Comparison::measured() const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < parts_->points.size(); ++i) {
    if (parts_->points[i].measured()) found.push_back(i);
  }
  return found;
}

std::optional<std::size_t> Comparison::plainest() const {
  double most = 0;
  std::optional<std::size_t> found;
  for (std::size_t const i : measured()) {
    double const speed_up = measure::spread_of(parts_->points[i].speed_ups()).median;
    if (speed_up > most) found = i;
    most = std::max(most, speed_up);
  }
  return found;
}

std::map<std::string, std::string> Comparison::values_of(std::size_t point) const {
  std::map<std::string, std::string> values;
  for (auto const& [name, value] : parts_->points.at(point).axes.items()) values.emplace(name, value_text(value));
  return values;
}

}  // namespace penstock::cli
