// SPDX-License-Identifier: Apache-2.0
#include "observe/report_json.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace penstock {
namespace {

using Json = nlohmann::ordered_json;

Json microseconds(std::optional<double> const& seconds) {
  return or_null(seconds ? std::optional(*seconds * 1e6) : std::nullopt);
}

double in_seconds(std::chrono::nanoseconds time) noexcept {
  return std::chrono::duration<double>(time).count();
}

Json times_of(Verdict const& verdict) {
  if (!verdict.device_times) return nullptr;
  DeviceTimes const& times = *verdict.device_times;
  return {{"upload_us", microseconds(times.upload)},     {"kernel_us", microseconds(times.kernel)},
          {"download_us", microseconds(times.download)}, {"overlap", or_null(times.overlap)},
          {"speedup", or_null(times.speedup)},           {"possible_speedup", or_null(times.possible_speedup)}};
}

Json failure_json(Failure const& failure) {
  return {{"stage", failure.stage}, {"reason", failure.reason}};
}

Json first_failure_json(std::optional<FirstFailure> const& first) {
  if (!first) return nullptr;
  Json json = failure_json(first->failure);
  json["sequence"] = or_null(first->sequence);
  json["tag"] = first->tag;
  return json;
}

std::string text_of(Json const& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

char const* kind_name(DeviceInfo const& device) noexcept {
  return device.modelled ? "model" : device.kind == DeviceKind::cuda ? "cuda" : "cpu";
}

nlohmann::ordered_json as_members(Verdict const& verdict) {
  Json advice = Json::array();
  for (Advice const& one : verdict.advice)
    advice.push_back({{"change", one.change}, {"gain", one.gain}, {"why", one.why}});
  auto const& why = verdict.streams_will_not_help;
  return {{"bound", bound_name(verdict.bound)},
          {"evidence", verdict.evidence},
          {"ceiling_gb_per_s", verdict.ceiling ? Json(verdict.ceiling->bytes_per_second / 1e9) : Json(nullptr)},
          {"advice", advice},
          {"no_advice", or_null(verdict.no_advice)},
          {"streams_will_not_help", why ? Json(why->sentence) : Json(nullptr)},
          {"streams_reason", why ? Json(no_streams_name(why->reason)) : Json(nullptr)},
          {"device_times", times_of(verdict)}};
}

nlohmann::ordered_json count_members(Report const& report) {
  return {{"tiles", report.tiles_done},  {"failed", report.tiles_failed}, {"cancelled", report.tiles_cancelled},
          {"bytes_in", report.bytes_in}, {"bytes_out", report.bytes_out}, {"wall_s", in_seconds(report.wall)}};
}

nlohmann::ordered_json attribution_json(Attribution const* attribution) {
  if (attribution == nullptr) return nullptr;
  Json culprits = Json::array();
  for (Attribution::Culprit const& culprit : attribution->culprits) {
    Json json{{"sequence", culprit.sequence}, {"tag", culprit.tag}};
    json.update(failure_json(culprit.failure));
    culprits.push_back(std::move(json));
  }
  return {{"culprits", culprits},
          {"innocent", attribution->innocent},
          {"not_tried", attribution->not_tried},
          {"remark", or_null(attribution->remark)}};
}

nlohmann::ordered_json left_out_json(std::span<LeftOut const> all) {
  Json list = Json::array();
  for (LeftOut const& one : all) {
    list.push_back({{"unit", one.unit},
                    {"reason", one.reason},
                    {"count", one.count},
                    {"bytes", one.bytes == 0 ? Json(nullptr) : Json(one.bytes)},
                    {"remedy", or_null(one.remedy)},
                    {"lost", one.lost}});
  }
  return list;
}

nlohmann::ordered_json outcome_members(Report const& report) {
  return {{"left_out", left_out_json(report.left_out)},
          {"verdict", report.verdict ? as_members(*report.verdict) : Json(nullptr)},
          {"attribution", attribution_json(report.attribution.get())},
          {"report", describe(report)},
          {"placement", report.placement},
          {"remarks", report.remarks}};
}

std::string report_json(Report const& report) {
  Json json{{"schema", 1}, {"kind", "report"}, {"ok", report.ok()}};
  json.update(count_members(report));
  Json run_failures = Json::array();
  for (Failure const& failure : report.run_failures) run_failures.push_back(failure_json(failure));
  Json devices = Json::array();
  for (DeviceSummary const& device : report.devices) {
    devices.push_back({{"name", device.name},
                       {"lanes", device.lanes},
                       {"tiles", device.tiles},
                       {"failed", device.failed},
                       {"loss", or_null(device.loss)}});
  }
  json.update(outcome_members(report));
  json.update(Json{{"stopped", report.stopped},
                   {"sink_failures", report.sink_failures},
                   {"first_failure", first_failure_json(report.first_failure)},
                   {"first_sink_failure", first_failure_json(report.first_sink_failure)},
                   {"run_failures", run_failures},
                   {"devices", devices},
                   {"cpu_s", in_seconds(report.cpu)},
                   {"borrow_wait_s", in_seconds(report.borrow_wait)},
                   {"fill_s", in_seconds(report.fill)},
                   {"sink_s", in_seconds(report.sink)},
                   {"pool_tiles", report.pool_tiles},
                   {"pool_bytes", report.pool_bytes}});
  return text_of(json);
}

std::string snapshot_json(Snapshot const& snapshot) {
  Json lanes = Json::array();
  for (LaneSnapshot const& lane : snapshot.lanes) {
    lanes.push_back({{"device", lane.device},
                     {"put", lane.put},
                     {"done", lane.done},
                     {"failed", lane.failed},
                     {"batches", lane.batches},
                     {"in_flight", lane.in_flight()},
                     {"waiting", lane.waiting},
                     {"bytes_up", lane.bytes_up},
                     {"bytes_down", lane.bytes_down},
                     {"lost", lane.lost}});
  }
  Json devices = Json::array();
  for (DeviceSnapshot const& device : snapshot.devices) {
    devices.push_back({{"name", device.name},
                       {"lanes", device.lanes},
                       {"done", device.done},
                       {"failed", device.failed},
                       {"in_flight", device.in_flight},
                       {"lanes_lost", device.lanes_lost}});
  }
  PoolSnapshot const& pool = snapshot.pool;
  Json const json{{"schema", 1},
                  {"kind", "snapshot"},
                  {"run", snapshot.run},
                  {"running", snapshot.running},
                  {"submitted", snapshot.submitted},
                  {"done", snapshot.done},
                  {"failed", snapshot.failed},
                  {"cancelled", snapshot.cancelled},
                  {"sink_failures", snapshot.sink_failures},
                  {"in_flight", snapshot.in_flight()},
                  {"lanes", lanes},
                  {"devices", devices},
                  {"pool",
                   {{"tiles", pool.tiles},
                    {"lent", pool.lent},
                    {"home", pool.home},
                    {"stranded", pool.stranded},
                    {"borrowers", pool.borrowers}}}};
  return text_of(json);
}

std::string devices_json(DeviceGroup const& devices) {
  Json all = Json::array();
  for (Device const* const device : devices.all()) {
    DeviceInfo const info = device->info();
    all.push_back({{"name", device_name(info)},
                   {"description", info.name},
                   {"kind", kind_name(info)},
                   {"memory_bytes", info.memory_bytes},
                   {"compute_units", info.compute_units},
                   {"capability", or_null(info.capability)},
                   {"link", or_null(info.link)},
                   {"numa_node", or_null(info.numa_node)}});
  }
  return text_of({{"schema", 1}, {"kind", "devices"}, {"devices", all}});
}

}  // namespace penstock
