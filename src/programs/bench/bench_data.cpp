// SPDX-License-Identifier: Apache-2.0
#include "programs/bench/bench_data.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "observe/judge.hpp"
#include "observe/option_table.hpp"
#include "observe/verdict/overlap.hpp"
#include "observe/verdict/passages.hpp"
#include "programs/bench/bench_output.hpp"
#include "programs/bench/bench_warnings.hpp"
#include "programs/bench/enough_threads.hpp"
#include "programs/bench/thread_counts.hpp"
#include "programs/command/results.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;
using measure::Axis;
using measure::PointResult;
using measure::Spread;

Json enough_json(BenchFacts const& facts, std::span<Axis const> axes, std::span<PointResult const> results) {
  Json all = Json::array();
  for (auto const& [count, of_most, may_help, interrupted, reckoned, sentence] : enough_threads(facts, axes, results)) {
    Json json{{"count", count}, {"of_most", of_most}, {"more_may_help", may_help}, {"interrupted", interrupted}};
    json.update(Json{{"reckoned", or_null(reckoned)}, {"sentence", sentence}});
    all.push_back(json);
  }
  return all.empty() ? Json(nullptr) : all;
}

Json ceilings_of(PointResult const& result, double gigabytes) {
  auto const rate = [&](std::optional<double> const& tiles) {
    return tiles ? Json(*tiles * gigabytes) : Json(nullptr);
  };
  auto const gigabytes_of = [](std::optional<double> const& bytes) {
    return bytes ? Json(*bytes / 1e9) : Json(nullptr);
  };
  if (!result.ceilings) return nullptr;
  Ceilings const& ceilings = *result.ceilings;
  return {{"upload_gb_per_s", rate(ceilings.upload)},
          {"download_gb_per_s", rate(ceilings.download)},
          {"both_gb_per_s", rate(ceilings.both)},
          {"batched_upload_gb_per_s", rate(ceilings.batched_upload)},
          {"batched_download_gb_per_s", rate(ceilings.batched_download)},
          {"batched_both_gb_per_s", rate(ceilings.batched_both)},
          {"fill_gb_per_s", rate(ceilings.fill)},
          {"kernel_gb_per_s", rate(ceilings.kernel)},
          {"link_up_gb_per_s", gigabytes_of(ceilings.link_up)},
          {"link_down_gb_per_s", gigabytes_of(ceilings.link_down)},
          {"gb_per_s", rate(lowest(ceilings, measure::direction_of(result.point.setting.shape_of_tile())))}};
}

Json verdict_of(PointResult const& result) {
  if (!result.verdict) return nullptr;
  Json json{{"judged_part", judged_part(result)}};
  json.update(as_members(*result.verdict));
  return json;
}

/// A way in which tiles' completions were found, and the percentage of tiles of the last run that were found so.
using FoundPart = std::pair<char const*, double>;

/// Parts by callback, by look, by watchdog; nothing if no tile was found. A table needs them too, and is not made of
/// JSON: the library's destructors ask for memory.
std::optional<std::array<FoundPart, 3>> completions_of(PointResult const& result) {
  FoundTiles const found = result.last ? result.last->report.found() : FoundTiles{};
  if (found.all() == 0) return std::nullopt;
  auto const part = [&](std::uint64_t tiles) {
    return 100 * static_cast<double>(tiles) / static_cast<double>(found.all());
  };
  return std::array{FoundPart{"by_callback", part(found.by_callback)}, FoundPart{"by_look", part(found.by_look)},
                    FoundPart{"by_watchdog", part(found.by_watchdog)}};
}

Json as_members(std::optional<std::array<FoundPart, 3>> const& parts) {
  if (!parts) return nullptr;
  Json json;
  for (auto const& [name, part] : *parts) json[name] = part;
  return json;
}

char const* kind_text(RecordRow::Kind kind) {
  switch (kind) {
    case RecordRow::Kind::thread:
      return "thread";
    case RecordRow::Kind::stream:
      return "stream";
    case RecordRow::Kind::queue:
      break;
  }
  return "queue";
}

/// The timeline of the fastest point, cut to what a page has room for.
Json timeline_of(std::span<PointResult const> results, Flavour flavour) {
  constexpr std::size_t most_passages = 15'000;
  auto const best = best_of(results);
  if (!best || !results[*best].traced) return nullptr;
  measure::Traced const& traced = *results[*best].traced;
  Recording const window = within(traced.recording, traced.opened, traced.closed);
  Recording const shown = middle_of(window, most_passages);
  Json rows = Json::array();
  for (RecordRow const& row : shown.rows) rows.push_back({{"name", row.name}, {"kind", kind_text(row.kind)}});
  Json steps = Json::array();
  for (std::size_t i = 0; i < step_count; ++i) steps.push_back(step_name(static_cast<Step>(i)));
  for (std::string const& name : shown.span_names) steps.push_back(name);
  Json passages = Json::array();
  for (Passage const& passage : shown.passages) {
    passages.push_back({passage.row, static_cast<int>(passage.step), passage.tile, passage.begin, passage.end});
  }
  for (RecordedSpan const& span : shown.spans)
    passages.push_back({span.row, step_count + span.name, or_null(span.tile), span.begin, span.end});
  auto const& trial = results[*best].last;
  Overlap const overlap = overlap_of(
      window, trial ? shared_stream(trial->options, flavour, trial->report.devices.size()) : SharedStream::none);
  return {{"point", *best},
          {"rows", rows},
          {"steps", steps},
          {"passages", passages},
          {"spans", as_list(span_times(window))},
          {"overlap",
           {{"speed_of_light", or_null(overlap.speed_of_light)},
            {"overlap", or_null(overlap.overlap)},
            {"duplex", or_null(overlap.duplex)}}}};
}

/// Members that only the jobs of users have: a count of items, a digest.
Json members_of_job(PointResult const& result) {
  Job const& job = result.point.setting.its_job();
  Json members = Json::object();
  if (job.items) {
    double const items = result.last ? result.last->items_per_tile : 0;
    members["item"] = job.item;
    members["items_per_s"] = as_spread(items > 0 ? result.tiles_per_second : std::vector<double>(), items);
  }
  if (result.digest) members["digest"] = measure::digest_text(*result.digest);
  return members;
}

/// Numbers of the threads that ran; null if none did.
Json threads_of(PointResult const& result) {
  if (!result.last) return nullptr;
  PipelineOptions const& options = result.last->options;
  return {{"producers", options.producers}, {"lanes", options.lanes}, {"consumers", options.consumers}};
}

Json tiles_of(PointResult const& result) {
  if (!result.last) return nullptr;
  Tuning const& tuning = result.last->options.tuning;
  return {{"slots", tuning.slots}, {"batch", tuning.batch}, {"tiles", tuning.tiles}};
}

Json point_of(std::span<Axis const> axes, PointResult const& result, std::optional<SpeedUp> const& speed_up) {
  double const gigabytes = bytes_per_tile(result) / 1e9;
  Json where = Json::object();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].swept()) where[axes[i].name] = axis_value_as_json(result.point.values[i]);
  }
  Json latency = nullptr;
  if (result.latency) {
    latency = {{"load_tiles_per_s", result.latency->load_tiles_per_second},
               {"p50", result.latency->p50},
               {"p99", result.latency->p99},
               {"p999", result.latency->p999}};
  }
  std::string error = result.error;
  if (error.empty() && result.tiles_per_second.empty()) error = "It was not measured: the sweep was interrupted.";
  Json point{{"axes", where},
             {"repeats", result.tiles_per_second.size()},
             {"processes", processes_of(result)},
             {"gb_per_s", as_spread(result.tiles_per_second, gigabytes)},
             {"tiles_per_s", as_spread(result.tiles_per_second, 1)},
             {"cpu_s_per_gb", as_spread(result.cpu_s_per_tile, 1 / gigabytes)},
             {"samples", {{"tiles_per_s", result.tiles_per_second}}},
             {"threads", threads_of(result)},
             {"tiles", tiles_of(result)},
             {"thread_speed_up",
              speed_up ? Json{{"times", speed_up->times}, {"of_ideal", speed_up->of_ideal}} : Json(nullptr)},
             {"latency_us", latency},
             {"pinned_bytes", result.last ? Json(result.last->pinned_bytes) : Json(nullptr)},
             {"device_bytes", result.last ? Json(result.last->device_bytes) : Json(nullptr)},
             {"completions_percent", as_members(completions_of(result))},
             {"placement", result.last ? or_null(result.last->report.placement) : Json(nullptr)},
             {"ceilings", ceilings_of(result, gigabytes)},
             {"verdict", verdict_of(result)},
             {"too_slow", or_null(result.too_slow)},
             {"remarks", result.remarks},
             {"error", or_null(error)}};
  point.update(members_of_job(result));
  return point;
}

}  // namespace

std::string as_json(BenchFacts const& facts, std::span<Axis const> axes, std::span<PointResult const> results) {
  Json swept = Json::array();
  Json options = Json::object();
  for (Axis const& axis : axes) {
    if (!axis.swept()) {
      options[axis.name] = axis_value_as_json(axis.values[0]);
      continue;
    }
    Json values = Json::array();
    for (std::string const& value : axis.values) values.push_back(axis_value_as_json(value));
    std::sort(values.begin(), values.end(),
              [](Json const& one, Json const& other) { return one.is_number() && other.is_number() && one < other; });
    Json json{{"name", axis.name}, {"values", values}};
    if (is_in_bytes(axis.name)) json["unit"] = "B";
    swept.push_back(json);
  }
  Json points = Json::array();
  auto const speed_ups = speed_ups_of(axes, results);
  for (std::size_t i = 0; i < results.size(); ++i)
    points.push_back(point_of(axes, results[i], speed_ups.empty() ? std::nullopt : speed_ups[i]));
  Json json{{"schema", 1}, {"kind", "bench"}};
  json.update(as_members(facts));
  std::string late = late_text(axes, results);
  if (!late.empty()) late.pop_back();
  json.update(Json{{"too_slow", or_null(late)},
                   {"enough_threads", enough_json(facts, axes, results)},
                   {"axes", swept},
                   {"options", options},
                   {"points", points},
                   {"timeline", timeline_of(results, facts.flavour)},
                   {"compare", nullptr}});
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string as_csv(BenchFacts const& facts, std::span<Axis const> axes, std::span<PointResult const> results) {
  // With several values of --device each line has its own, and these facts describe the first.
  bool const one_device =
      std::none_of(axes.begin(), axes.end(), [](Axis const& axis) { return axis.name == "device"; });
  std::vector<std::string> const place{one_device ? facts.device.name : "",
                                       one_device ? facts.device.driver : "",
                                       facts.host.hostname,
                                       facts.host.cpu_model,
                                       facts.version,
                                       facts.commit,
                                       std::string(flavour_name(facts.flavour)),
                                       facts.date,
                                       facts.command};
  std::string text;
  for (Axis const& axis : axes) text += axis.name + ",";
  text +=
      "repeats,gb_per_s,gb_per_s_min,gb_per_s_max,tiles_per_s,cpu_s_per_gb,load_tiles_per_s,p50_us,p99_us,p999_us,"
      "ceiling_gb_per_s,pinned_bytes,device_bytes,by_callback_percent,by_look_percent,by_watchdog_percent,bound,"
      "ran_producers,ran_lanes,ran_consumers,thread_speed_up,thread_speed_up_of_ideal,device_name,driver,host,cpu,"
      "version,commit,flavour,date,"
      "command,"
      "remarks,error\n";
  auto const speed_ups = speed_ups_of(axes, results);
  for (PointResult const& result : results) {
    double const gigabytes = bytes_per_tile(result) / 1e9;
    std::vector<std::string> cells = result.point.values;
    cells.push_back(std::to_string(result.tiles_per_second.size()));
    auto const add = [&](bool known, double value) { cells.push_back(known ? Json(value).dump() : ""); };
    bool const measured = !result.tiles_per_second.empty();
    Spread const rate = measured ? measure::spread_of(result.tiles_per_second) : Spread{};
    for (double const value : {rate.median, rate.least, rate.most}) add(measured, value * gigabytes);
    add(measured, rate.median);
    add(measured, measured ? measure::spread_of(result.cpu_s_per_tile).median / gigabytes : 0);
    auto const latency = result.latency.value_or(measure::Latency{});
    for (double const value : {latency.load_tiles_per_second, latency.p50, latency.p99, latency.p999})
      add(result.latency.has_value(), value);
    auto const ceiling = result.ceilings
                             ? lowest(*result.ceilings, measure::direction_of(result.point.setting.shape_of_tile()))
                             : std::nullopt;
    add(ceiling.has_value(), ceiling.value_or(0) * gigabytes);
    cells.push_back(result.last ? std::to_string(result.last->pinned_bytes) : "");
    cells.push_back(result.last ? std::to_string(result.last->device_bytes) : "");
    std::optional const completions = completions_of(result);
    for (std::size_t way = 0; way < 3; ++way)
      add(completions.has_value(), completions ? completions->at(way).second : 0);
    cells.push_back(result.verdict ? std::string(bound_name(result.verdict->bound)) : "");
    PipelineOptions const ran = result.last ? result.last->options : PipelineOptions();
    for (unsigned const threads : {ran.producers, ran.lanes, ran.consumers})
      cells.push_back(result.last ? std::to_string(threads) : "");
    auto const up = speed_ups.empty() ? std::nullopt : speed_ups[static_cast<std::size_t>(&result - results.data())];
    add(up.has_value(), up ? up->times : 0);
    add(up.has_value(), up ? up->of_ideal : 0);
    cells.insert(cells.end(), place.begin(), place.end());
    cells.emplace_back();
    for (std::string const& remark : result.remarks) cells.back() += (cells.back().empty() ? "" : " ") + remark;
    cells.push_back(result.error);
    text += csv_line(cells);
  }
  return text;
}

}  // namespace penstock::cli
