// SPDX-License-Identifier: Apache-2.0
#include "programs/compare/comparison_output.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <nlohmann/json.hpp>

#include "observe/option_members.hpp"
#include "observe/verdict/advice.hpp"
#include "programs/command/results.hpp"
#include "programs/measure/meter.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;
using measure::Spread;

/// Medians in GB/s.
double rate_of(ComparedSide const& side) {
  return measure::spread_of(side.tiles).median * side.gigabytes();
}

/// Adds results from runs other than those of the throughput.
void take_judged(Json& point, ComparedSide const& side, bool late) {
  for (std::string const& remark : side.remarks) point["remarks"].push_back(remark);
  if (!side.too_slow.empty()) point["remarks"].push_back(side.too_slow);
  if (side.judged.is_null() || late) return;
  for (char const* name : {"latency_us", "ceilings", "verdict"}) point[name] = side.judged.at(name);
  for (Json const& remark : side.judged.at("remarks")) point["remarks"].push_back(remark);
  if (point["verdict"].is_null()) return;
  // The judged run is a part of the rounds' result, not of its own process's other run.
  double const beside = side.judged.at("tiles_per_s").at("median").get<double>();
  Json& part = point["verdict"].at("judged_part");
  part = part.get<double>() * beside / measure::spread_of(side.tiles).median;
}

/// The measured speed-up replaces a verdict's guess.
void take_measured(Json& verdict, Spread const& speed_up) {
  if (verdict.is_null() || !verdict.contains("advice")) return;
  Json& all = verdict["advice"];
  auto const found = std::ranges::find_if(all, [](Json const& one) { return one.at("change") == per_thread_instead; });
  bool const turns = verdict.value("bound", "") == bound_name(Bound::serialising_stream);
  constexpr double worth_saying = 1.05;
  if (found == all.end() && (!turns || speed_up.median < worth_saying)) return;
  Json const measured{
      {"change", per_thread_instead},
      {"gain", speed_up.median},
      {"why", "Measured here: " + short_number(speed_up.least) + " to " + short_number(speed_up.most) + " times."}};
  if (found != all.end()) *found = measured;
  if (found == all.end()) all.push_back(measured);
}

Json as_point(ComparedPoint const& of, ComparedSide const& side, char const* flavour) {
  bool const measured = of.measured();
  Json point = side.last.is_null() ? Json::object() : side.last;
  point["axes"]["flavour"] = flavour;
  point["repeats"] = side.tiles.size();
  point["processes"] = side.tiles.size();
  point["gb_per_s"] = measured ? as_spread(side.tiles, side.gigabytes()) : Json(nullptr);
  point["tiles_per_s"] = measured ? as_spread(side.tiles, 1) : Json(nullptr);
  point["cpu_s_per_gb"] = measured ? as_spread(side.cpu, 1) : Json(nullptr);
  point["samples"] = {{"tiles_per_s", side.tiles}};
  // A point is compared or it is not: an error of one side applies to both.
  std::string const& error = side.error.empty() ? of.error() : side.error;
  point["error"] = error.empty() ? Json(nullptr) : Json(error);
  point["too_slow"] = or_null(of.late());
  if (measured) take_judged(point, side, !of.late().empty());
  if (measured && point.contains("verdict")) take_measured(point["verdict"], measure::spread_of(of.speed_ups()));
  return point;
}

/// Replaces the number of the timeline's point by a number of point and flavour.
Json of_flavour(Json timeline, std::size_t flavour) {
  if (!timeline.is_null()) timeline["point"] = 2 * timeline.at("point").get<std::size_t>() + flavour;
  return timeline;
}

/// Columns of a line of CSV for its point, between the axes and the columns that are the same for all points.
constexpr std::array csv_figures{"repeats",
                                 "legacy_gb_per_s",
                                 "per_thread_gb_per_s",
                                 "legacy_tiles_per_s",
                                 "per_thread_tiles_per_s",
                                 "legacy_cpu_s_per_gb",
                                 "per_thread_cpu_s_per_gb",
                                 "speed_up",
                                 "speed_up_min",
                                 "speed_up_max",
                                 "error"};

/// Shape: as csv_figures.
std::vector<std::string> figures_of(ComparedPoint const& point) {
  std::vector<std::string> cells;
  if (point.measured()) {
    cells.push_back(std::to_string(point.legacy.tiles.size()));
    Spread const speed_up = measure::spread_of(point.speed_ups());
    for (double const figure :
         {rate_of(point.legacy), rate_of(point.per_thread), measure::spread_of(point.legacy.tiles).median,
          measure::spread_of(point.per_thread.tiles).median, measure::spread_of(point.legacy.cpu).median,
          measure::spread_of(point.per_thread.cpu).median, speed_up.median, speed_up.least, speed_up.most})
      cells.push_back(Json(figure).dump());
  }
  cells.resize(csv_figures.size() - 1);
  cells.push_back(point.error());
  return cells;
}

}  // namespace

std::string as_text(Compared const& compared) {
  if (compared.points.empty()) return "";
  std::vector<std::vector<std::string>> rows(1);
  for (auto const& [name, value] : compared.points.front().axes.items()) rows[0].push_back(name);
  std::size_t const texts = rows[0].size();
  for (char const* name : {"legacy GB/s", "per-thread GB/s", "speed-up", "least", "most"}) rows[0].emplace_back(name);
  std::string failures;
  for (ComparedPoint const& point : compared.points) {
    std::vector<std::string> row;
    for (auto const& [name, value] : point.axes.items()) row.push_back(axis_value_text(name, value_text(value)));
    if (!point.measured()) {
      row.emplace_back("failed");
      std::string const where = point.where();
      failures += "failed: " + (where.empty() ? "" : where + " - ") + in_options(point.error()) + "\n";
    } else {
      Spread const speed_up = measure::spread_of(point.speed_ups());
      for (double const figure : {rate_of(point.legacy), rate_of(point.per_thread)})
        row.push_back(short_number(figure));
      if (point.late().empty()) {
        for (double const figure : {speed_up.median, speed_up.least, speed_up.most})
          row.push_back(short_number(figure));
      } else {
        row.emplace_back("not judged: late");
      }
    }
    rows.push_back(row);
  }
  std::string text = device_text(compared.first.at("device")) + " on " +
                     compared.first.at("machine").at("host").get<std::string>() +
                     ", legacy against per-thread default streams, in turn\n";
  std::string fixed;
  for (auto const& [name, value] : compared.first.at("options").items()) {
    if (value == 0) continue;
    fixed += (fixed.empty() ? "" : ", ") + name + " " + axis_value_text(name, value_text(value));
  }
  return text + fixed + "\n" + late_in(compared) + "\n" + text_table(rows, texts) + "\n" + failures +
         sentence_on(compared) + "\n";
}

std::string as_json(Compared const& compared, std::string const& date, std::string const& command) {
  Json json = compared.first;
  json["kind"] = "compare";
  json["date"] = date;
  json["command"] = command;
  std::string late = late_in(compared);
  if (!late.empty()) late.pop_back();
  json["too_slow"] = or_null(late);
  json["axes"].push_back({{"name", "flavour"}, {"values", {"legacy", "per-thread"}}});
  Json points = Json::array();
  Json speed_ups = Json::array();
  for (ComparedPoint const& point : compared.points) {
    points.push_back(as_point(point, point.legacy, "legacy"));
    points.push_back(as_point(point, point.per_thread, "per-thread"));
    if (!point.judged_by_its_clock()) continue;
    Json one = as_spread(point.speed_ups(), 1);
    one["axes"] = point.axes;
    speed_ups.push_back(one);
  }
  json["points"] = points;
  json["timeline"] = of_flavour(compared.per_thread_timeline, 1);
  json["compare"] = {{"baseline", "legacy"},
                     {"candidate", "per-thread"},
                     {"speedups", speed_ups},
                     {"sentence", sentence_on(compared)},
                     {"baseline_timeline", of_flavour(compared.legacy_timeline, 0)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string as_csv(Compared const& compared, std::string const& date) {
  if (compared.points.empty()) return "";
  Json const& first = compared.first;
  std::vector<std::string> names, of_all;
  for (auto const& [name, value] : compared.points.front().axes.items()) names.push_back(name);
  for (char const* name : csv_figures) names.emplace_back(name);
  auto const add = [&](std::string const& name, Json const& value) {
    names.push_back(name);
    of_all.push_back(value.is_null() ? "" : value_text(value));
  };
  for (auto const& [name, value] : first.at("options").items()) add(name, value);
  for (char const* name : {"host", "cpu", "cpus"}) add(name, first.at("machine").at(name));
  // With several values of --device each line has its own, and these columns would describe the first.
  bool const one_device = std::none_of(first.at("axes").begin(), first.at("axes").end(),
                                       [](Json const& axis) { return axis.at("name") == "device"; });
  add("device_name", one_device ? first.at("device").at("name") : Json());
  add("driver", one_device ? first.at("device").at("driver") : Json());
  for (char const* name : {"version", "commit"}) add(name, first.at("penstock").at(name));
  add("date", date);
  std::string text = csv_line(names);
  for (ComparedPoint const& point : compared.points) {
    std::vector<std::string> cells;
    for (auto const& [name, value] : point.axes.items()) cells.push_back(value_text(value));
    for (std::string const& figure : figures_of(point)) cells.push_back(figure);
    cells.insert(cells.end(), of_all.begin(), of_all.end());
    text += csv_line(cells);
  }
  return text;
}

}  // namespace penstock::cli
