// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/comparison.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include <nlohmann/json.hpp>

#include "penstock/cli/text_table.hpp"
#include "penstock/core/error.hpp"
#include "penstock/core/size_text.hpp"
#include "penstock/measure/spread.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;
using measure::Spread;

/// A difference below that is none.
constexpr double noise = 0.1;

std::string value_text(Json const& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

struct Pair {
  Json axes = {};
  Json legacy = {};      ///< The point as the last round had it.
  Json per_thread = {};  ///< Likewise.
  std::vector<double> legacy_tiles = {};
  std::vector<double> per_thread_tiles = {};
  std::vector<double> cpu_legacy = {};
  std::vector<double> cpu_per_thread = {};
  std::string error = {};

  bool measured() const { return error.empty() && !legacy_tiles.empty(); }
  std::vector<double> speed_ups() const {
    std::vector<double> all;
    for (std::size_t i = 0; i < legacy_tiles.size(); ++i) all.push_back(per_thread_tiles[i] / legacy_tiles[i]);
    return all;
  }
  std::uint64_t threads() const { return axes.value("threads", std::uint64_t{0}); }
  /// Where it is, but for the threads: "tile 4 KiB".
  std::string elsewhere() const {
    std::string text;
    for (auto const& [name, value] : axes.items()) {
      if (name == "threads") continue;
      text += (text.empty() ? "" : ", ") + name + " " + axis_value_text(name, value_text(value));
    }
    return text;
  }
};

std::string times(double factor) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), factor >= 9.95 ? "%.0f" : "%.1f", factor);
  return text.data();
}

Json as_spread(std::vector<double> const& values, double factor) {
  if (values.empty()) return nullptr;
  Spread const spread = measure::spread_of(values);
  return {{"median", spread.median * factor}, {"min", spread.least * factor}, {"max", spread.most * factor}};
}

void take(Json const& point, std::vector<double>& tiles, std::vector<double>& cpu, std::string& error) {
  if (!point.at("error").is_null()) {
    error = point.at("error").get<std::string>();
    return;
  }
  tiles.push_back(point.at("tiles_per_s").at("median").get<double>());
  cpu.push_back(point.at("cpu_s_per_gb").at("median").get<double>());
}

}  // namespace

struct Comparison::Parts {
  Json first;  ///< Of the per-thread program's results, all but the points.
  std::vector<Pair> pairs;

  std::uint64_t most_threads() const {
    std::uint64_t most = 0;
    for (Pair const& pair : pairs) most = std::max(most, pair.threads());
    return most;
  }
  /// What all points have, if that is no axis; 0 if it is, or was left to the machine.
  std::uint64_t threads_everywhere() const {
    auto const found = first.at("options").find("threads");
    return found != first.at("options").end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
  }
  std::string option(char const* name) const {
    auto const found = first.at("options").find(name);
    return found != first.at("options").end() && found->is_string() ? found->get<std::string>() : std::string();
  }
};

Comparison::Comparison() : parts_(std::make_unique<Parts>()) {}
Comparison::~Comparison() = default;

void Comparison::add(std::string_view legacy, std::string_view per_thread) try {
  Json const old = Json::parse(legacy), fresh = Json::parse(per_thread);
  if (parts_->pairs.empty()) {
    parts_->first = fresh;
    for (Json const& point : fresh.at("points")) parts_->pairs.push_back({.axes = point.at("axes")});
  }
  Json const& olds = old.at("points");
  Json const& freshs = fresh.at("points");
  if (olds.size() != parts_->pairs.size() || freshs.size() != parts_->pairs.size()) {
    throw Error(ErrorKind::system, "The two programs measured different points: are both of one build?");
  }
  for (std::size_t i = 0; i < parts_->pairs.size(); ++i) {
    Pair& pair = parts_->pairs[i];
    if (olds[i].at("axes") != pair.axes || freshs[i].at("axes") != pair.axes) {
      throw Error(ErrorKind::system, "The two programs measured different points: are both of one build?");
    }
    if (!pair.error.empty()) continue;
    pair.legacy = olds[i];
    pair.per_thread = freshs[i];
    take(olds[i], pair.legacy_tiles, pair.cpu_legacy, pair.error);
    if (pair.error.empty()) take(freshs[i], pair.per_thread_tiles, pair.cpu_per_thread, pair.error);
  }
} catch (nlohmann::json::exception const& problem) {
  throw Error(ErrorKind::system, "A program's results cannot be read: " + std::string(problem.what()));
}

bool Comparison::holds(double expected) const {
  std::uint64_t const most = parts_->most_threads();
  return std::all_of(parts_->pairs.begin(), parts_->pairs.end(), [&](Pair const& pair) {
    if (pair.threads() != most) return true;
    return pair.measured() && measure::spread_of(pair.speed_ups()).median >= expected;
  });
}

std::optional<std::map<std::string, std::string>> Comparison::plainest() const {
  double most = 0;
  std::optional<std::map<std::string, std::string>> values;
  for (Pair const& pair : parts_->pairs) {
    double const speed_up = pair.measured() ? measure::spread_of(pair.speed_ups()).median : 0;
    if (speed_up <= most) continue;
    most = speed_up;
    values.emplace();
    for (auto const& [name, value] : pair.axes.items()) values->emplace(name, value_text(value));
  }
  return values;
}

std::string Comparison::sentence() const {
  if (parts_->option("streams") == "own") {
    return "The work names streams of its own, which no default stream is in the way of: both builds do the same, and "
           "no difference is to be expected.";
  }
  std::uint64_t const most = parts_->most_threads();
  std::vector<std::string> found;
  Spread all{.median = 0, .least = 0, .most = 0};
  bool told = false;  // By one point at least, whose runs are all on one side.
  for (Pair const& pair : parts_->pairs) {
    if (pair.threads() != most || !pair.measured()) continue;
    Spread const one = measure::spread_of(pair.speed_ups());
    if (found.empty()) all = one;
    all = {std::max(all.median, one.median), std::min(all.least, one.median), std::max(all.most, one.most)};
    told = told || one.least > 1 || one.most < 1 || (one.most < 1 + noise && one.least > 1 - noise);
    std::string const where = pair.elsewhere();
    found.push_back(times(one.median) + " times (" + (where.empty() ? "" : where + ", ") + times(one.least) + " to " +
                    times(one.most) + ")");
  }
  if (found.empty()) return "Nothing was measured in both builds.";
  std::uint64_t const threads = most > 0 ? most : parts_->threads_everywhere();
  std::string const with =
      threads == 0 ? "" : "With " + std::to_string(threads) + (threads == 1 ? " thread" : " threads") + ", ";
  std::string list;
  for (std::size_t i = 0; i < found.size(); ++i) {
    list += (i == 0 ? "" : i + 1 < found.size() ? ", " : " and ") + found[i];
  }
  // With fewer pairs of runs nobody knows how far they stray.
  constexpr std::size_t fewest = 3;
  bool const enough = std::all_of(parts_->pairs.begin(), parts_->pairs.end(), [&](Pair const& pair) {
    return pair.threads() != most || !pair.measured() || pair.legacy_tiles.size() >= fewest;
  });
  if (!told || !enough) {
    return with + "per-thread default streams came to " + list + " the tiles of the legacy one: " +
           (enough ? "the runs stray too far to tell. " : "that is too few runs to tell. ") +
           "Ask for more rounds or a longer window, and see that nothing else is busy here.";
  }
  if (all.median < 1 + noise && all.least > 1 - noise) {
    return with + "per-thread default streams make no difference: they come to " + list +
           " the tiles of the legacy one, and a tenth is noise. Where one thread or the link does all there is to do, "
           "nobody waits for another's stream.";
  }
  if (all.median < 1 + noise)
    return with + "per-thread default streams come to no more than " + list +
           " the tiles of the legacy one: that build is the faster.";
  return with + "per-thread default streams come to " + list + " the tiles of the legacy one" +
         (threads == 1 ? ", though one thread has nobody to take turns with."
                       : ", in which the work of all threads takes turns in a single stream.");
}

std::string Comparison::as_text() const {
  if (parts_->pairs.empty()) return "";
  std::vector<std::vector<std::string>> rows(1);
  for (auto const& [name, value] : parts_->pairs.front().axes.items()) rows[0].push_back(name);
  std::size_t const texts = rows[0].size();
  for (char const* name : {"legacy GB/s", "per-thread GB/s", "speed-up", "least", "most"}) rows[0].emplace_back(name);
  std::string failures;
  for (Pair const& pair : parts_->pairs) {
    std::vector<std::string> row;
    for (auto const& [name, value] : pair.axes.items()) {
      row.push_back(axis_value_text(name, value_text(value)));
    }
    if (!pair.measured()) {
      row.emplace_back("failed");
      failures += "failed: " + pair.axes.dump() + " - " + pair.error + "\n";
    } else {
      auto const gigabytes = [](Json const& point) {
        return point.at("gb_per_s").at("median").get<double>() / point.at("tiles_per_s").at("median").get<double>();
      };
      Spread const speed_up = measure::spread_of(pair.speed_ups());
      row.push_back(short_number(measure::spread_of(pair.legacy_tiles).median * gigabytes(pair.legacy)));
      row.push_back(short_number(measure::spread_of(pair.per_thread_tiles).median * gigabytes(pair.per_thread)));
      for (double const factor : {speed_up.median, speed_up.least, speed_up.most}) row.push_back(short_number(factor));
    }
    rows.push_back(row);
  }
  Json const& device = parts_->first.at("device");
  std::string text = device.at("name").get<std::string>() + " on " +
                     parts_->first.at("machine").at("host").get<std::string>() +
                     ", legacy against per-thread default streams, in turn\n";
  std::string fixed;
  for (auto const& [name, value] : parts_->first.at("options").items()) {
    if (value == 0) continue;
    fixed += (fixed.empty() ? "" : ", ") + name + " " + axis_value_text(name, value_text(value));
  }
  return text + fixed + "\n\n" + text_table(rows, texts) + "\n" + failures + sentence() + "\n";
}

std::string Comparison::as_json(std::string const& date, std::string const& command) const {
  Json json = parts_->first;
  json["kind"] = "compare";
  json["date"] = date;
  json["command"] = command;
  json["axes"].push_back({{"name", "flavour"}, {"values", {"legacy", "per-thread"}}});
  Json points = Json::array();
  Json speed_ups = Json::array();
  for (Pair const& pair : parts_->pairs) {
    for (bool const fresh : {false, true}) {
      Json point = fresh ? pair.per_thread : pair.legacy;
      if (point.is_null()) point = Json::object();
      auto const& tiles = fresh ? pair.per_thread_tiles : pair.legacy_tiles;
      bool const measured = pair.measured();
      double const size = measured ? point.at("gb_per_s").at("median").get<double>() /
                                         point.at("tiles_per_s").at("median").get<double>()
                                   : 0;
      point["axes"]["flavour"] = fresh ? "per-thread" : "legacy";
      point["repeats"] = tiles.size();
      point["processes"] = tiles.size();
      point["gb_per_s"] = measured ? as_spread(tiles, size) : Json(nullptr);
      point["tiles_per_s"] = measured ? as_spread(tiles, 1) : Json(nullptr);
      point["cpu_s_per_gb"] = measured ? as_spread(fresh ? pair.cpu_per_thread : pair.cpu_legacy, 1) : Json(nullptr);
      point["samples"] = {{"tiles_per_s", tiles}};
      point["error"] = pair.error.empty() ? Json(nullptr) : Json(pair.error);
      points.push_back(point);
    }
    if (!pair.measured()) continue;
    Json one = as_spread(pair.speed_ups(), 1);
    one["axes"] = pair.axes;
    speed_ups.push_back(one);
  }
  json["points"] = points;
  json["compare"] = {
      {"baseline", "legacy"}, {"candidate", "per-thread"}, {"speedups", speed_ups}, {"sentence", sentence()}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string Comparison::as_csv() const {
  std::string text;
  if (parts_->pairs.empty()) return text;
  for (auto const& [name, value] : parts_->pairs.front().axes.items()) text += name + ",";
  text += "legacy_tiles_per_s,per_thread_tiles_per_s,speed_up,speed_up_min,speed_up_max\n";
  for (Pair const& pair : parts_->pairs) {
    for (auto const& [name, value] : pair.axes.items()) text += value_text(value) + ",";
    if (!pair.measured()) {
      text += ",,,,\n";
      continue;
    }
    Spread const speed_up = measure::spread_of(pair.speed_ups());
    text += Json(measure::spread_of(pair.legacy_tiles).median).dump() + "," +
            Json(measure::spread_of(pair.per_thread_tiles).median).dump() + "," + Json(speed_up.median).dump() + "," +
            Json(speed_up.least).dump() + "," + Json(speed_up.most).dump() + "\n";
  }
  return text;
}

}  // namespace penstock::cli
