// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/process_results.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "anyprogram/watched/faults.hpp"
#include "anyprogram/watched/hazards.hpp"
#include "anyprogram/watched/model.hpp"
#include "programs/command/results.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;
using namespace watch_log;

/// Maximum number of rows of a table; all others are one row together.
constexpr std::size_t most_rows = 40;

struct Sum {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::int64_t time = 0;
  std::int64_t longest = 0;

  void add(WatchRecord const& record) {
    auto const length = static_cast<std::int64_t>(record.end - record.begin);
    ++count;
    bytes += record.bytes;
    time += length;
    longest = std::max(longest, length);
  }
};

/// Rows ordered by time, the longest first.
template <class Key, class Row>
Json rows_of(std::map<Key, Sum> const& sums, Row const& row) {
  std::vector<std::pair<Key, Sum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](auto const& one, auto const& other) { return one.second.time > other.second.time; });
  Json rows = Json::array();
  for (std::size_t i = 0; i < sorted.size() && i < most_rows; ++i) {
    Json one = row(sorted[i].first);
    one["count"] = sorted[i].second.count;
    one["time_ns"] = sorted[i].second.time;
    one["longest_ns"] = sorted[i].second.longest;
    if (sorted[i].second.bytes > 0) one["bytes"] = sorted[i].second.bytes;
    rows.push_back(std::move(one));
  }
  return rows;
}

Json calls_of(WatchLog const& log) {
  std::map<std::pair<std::uint32_t, std::string>, Sum> sums;
  for (WatchRecord const& call : log.calls) sums[{call.thread, call_name(log, call)}].add(call);
  for (auto& [key, sum] : sums) sum.bytes = 0;  // A record of an attempt at a query has something else there.
  return rows_of(sums, [&](auto const& key) {
    return Json{{"thread", thread_name(log, key.first)}, {"call", key.second}};
  });
}

char const* memory_name(unsigned kind) {
  constexpr std::array names{"unknown", "pageable", "pinned", "device", "array", "managed", "device", "managed"};
  return kind < names.size() ? names[kind] : names[0];
}

Json copies_of(WatchLog const& log) {
  std::map<std::tuple<std::string, std::string, bool>, Sum> sums;
  for (WatchRecord const& one : log.activities)
    if (one.kind == Kind::copy) sums[{memory_name(one.from), memory_name(one.to), (one.flags & async) != 0}].add(one);
  return rows_of(sums, [](auto const& key) {
    return Json{{"from", std::get<0>(key)}, {"to", std::get<1>(key)}, {"asynchronous", std::get<2>(key)}};
  });
}

Json kernels_of(WatchLog const& log) {
  std::map<std::string, Sum> sums;
  for (WatchRecord const& one : log.activities) {
    if (one.kind != Kind::kernel) continue;
    auto const name = log.kernel_names.find(one.first);
    sums[name == log.kernel_names.end() ? "without a name" : name->second].add(one);
  }
  for (auto& [key, sum] : sums) sum.bytes = 0;  // A record of a kernel has the threads of a block there.
  return rows_of(sums, [](std::string const& name) { return Json{{"name", name}}; });
}

Json streams_of(WatchModel const& model) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < model.streams().size() && i < most_rows; ++i) {
    WatchedStream const& stream = model.streams()[i];
    rows.push_back({{"stream", model.stream_text(i)},
                    {"device", stream.device},
                    {"blocking", stream.blocking},
                    {"works", stream.works},
                    {"busy_ns", stream.busy}});
  }
  return rows;
}

Json as_json(Fault const& fault) {
  Json worst = Json::array();
  for (FaultPlace const& place : fault.worst)
    worst.push_back({{"thread", place.thread},
                     {"call", place.call},
                     {"stream", or_null(place.stream)},
                     {"correlation", place.correlation},
                     {"count", place.count},
                     {"cost_ns", place.cost},
                     {"most_ns", place.most}});
  return {{"fault", fault_name(fault.kind)},
          {"words", fault_words(fault.kind)},
          {"advice", fault_advice(fault.kind)},
          {"count", fault.count},
          {"cost_ns", fault.cost},
          {"worst", std::move(worst)}};
}

Json counted_only(WatchLog const& log) {
  std::uint64_t calls = 0;
  for (Total const& total : log.call_totals) calls += total.count;
  std::uint64_t activities = 0;
  for (Total const& total : log.activity_totals) activities += total.count;
  return {{"calls", calls}, {"works", activities}};
}

}  // namespace

Json as_json(Hazards const& hazards, WatchLog const& log) {
  auto const side = [&](HazardSide const& one) {
    WatchRecord const& call = log.calls[one.call];
    return Json{{"thread", thread_name(log, call.thread)},
                {"call", call_name(log, call)},
                {"stream", stream_name(call.stream)},
                {"correlation", call.correlation},
                {"writes", one.writes}};
  };
  Json pairs = Json::array();
  for (Hazard const& hazard : hazards.pairs)
    pairs.push_back({{"first", side(hazard.first)},
                     {"second", side(hazard.second)},
                     {"address", hazard.address},
                     {"bytes", hazard.bytes},
                     {"count", hazard.count}});
  return {{"count", hazards.count},
          {"pairs", std::move(pairs)},
          {"launches", hazards.launches},
          {"launches_and_copies", hazards.launches_and_copies},
          {"told", hazards.told},
          {"unordered", hazards.unordered},
          {"unknown_bytes", hazards.unknown_bytes},
          {"complete", hazards.complete},
          {"text", as_text(hazards, log)}};
}

Json process_as_json(WatchLog const& log) {
  WatchModel const model(log);
  Findings const findings = find_faults(model);
  Overlap const& overlap = model.overlap();
  Json process{{"process", log.process},
               {"program", log.program},
               {"refusal", log.refusal == Refusal::none ? Json() : Json(static_cast<std::uint64_t>(log.refusal))},
               {"refusal_code", log.refusal_code},
               {"ended", log.ended != 0},
               {"full_after_ns", log.full_at == 0 ? Json() : Json(log.full_at - log.began)},
               {"lost", log.lost},
               {"counted_only", counted_only(log)},
               {"calls_listed", log.calls.size()},
               {"works", model.works().size()},
               {"window_ns", model.window().end - model.window().begin},
               {"serial_ns", model.serial()},
               {"possible_ns", model.possible()},
               {"uploading_ns", overlap.uploading.count()},
               {"downloading_ns", overlap.downloading.count()},
               {"computing_ns", overlap.computing.count()},
               {"busy_ns", overlap.busy.count()},
               {"overlap", or_null(overlap.overlap)},
               {"overlap_text", or_null(model.text_overlap())},
               {"speed_of_light", or_null(overlap.speed_of_light)},
               {"duplex", or_null(overlap.duplex)}};
  Json faults = Json::array(), counts = Json::object(), gaps = Json::array(), reasons = Json::array();
  for (auto const& [kind, count] : findings.counts) counts[fault_name(kind)] = count;
  for (Fault const& fault : findings.faults) faults.push_back(as_json(fault));
  for (GapSum const& gap : findings.gaps)
    gaps.push_back({{"why", fault_name(gap.why)}, {"count", gap.count}, {"time_ns", gap.time}});
  for (NoHelp const& reason : findings.no_help)
    reasons.push_back({{"reason", reason.reason}, {"holds", reason.holds}, {"sentence", reason.sentence}});
  process["faults"] = std::move(faults);
  process["fault_counts"] = std::move(counts);
  process["gaps"] = std::move(gaps);
  process["no_help"] = std::move(reasons);
  process["hazards"] = as_json(find_hazards(log), log);
  process["calls"] = calls_of(log);
  process["copies"] = copies_of(log);
  process["kernels"] = kernels_of(log);
  process["streams"] = streams_of(model);
  return process;
}

}  // namespace penstock::cli
