// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/hash_output.hpp"

#include <array>
#include <utility>

#include "engine/core/number_text.hpp"
#include "engine/core/pool.hpp"
#include "programs/command/figure_arguments.hpp"
#include "programs/command/program.hpp"
#include "programs/command/results.hpp"
#include "programs/hash/check_list.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string line_of(Json const& json) {
  // Paths need not be UTF-8, but JSON must be.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

/// More files would make a page of more than a megabyte.
constexpr std::size_t most_rows = 2000;

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

Json head_start(std::optional<HeadStart> const& head) {
  if (!head) return nullptr;
  return {{"tiles", head->tiles}, {"bytes", head->bytes}, {"wall_s", seconds(head->wall)}};
}

Json pool_of(Pool const* pool) {
  if (pool == nullptr) return nullptr;
  return {{"tiles", pool->size()}, {"tile_bytes", pool->shape().input_bytes}};
}

}  // namespace

void HashOutput::problem(std::string const& about, std::string const& what) {
  ++problems_;
  progress_.complain(message_of((about.empty() ? "''" : about) + ": " + what));
}

bool HashOutput::flush() {
  bool const taken = lines_.empty() || progress_.print(output_, lines_);
  lines_.clear();
  return taken;
}

/// Complains after the lines of the files before.
void HashOutput::complain(std::string const& about, std::string const& what) {
  flush();
  problem(about, what);
}

void HashOutput::file(HashedFile const& file) {
  cut_short_ = cut_short_ || file.cancelled;
  if (file.cancelled || (cut_short_ && file.digest)) return;
  ++files_;
  if (keeps_rows_ && rows_.size() < most_rows) rows_.push_back(row_of(file));
  if (format_ == HashFormat::check || format_ == HashFormat::quiet) {
    checked(file);
  } else if (format_ == HashFormat::json) {
    as_json(file);
  } else if (format_ == HashFormat::csv) {
    as_csv(file);
  } else if (!file.digest) {
    complain(file.path, file.problem);
  } else if (format_ == HashFormat::hashes) {
    lines_ += blake3_hex(*file.digest) + "\n";
  } else {
    lines_ += sum_line(blake3_hex(*file.digest), file.path) + "\n";
  }
}

void HashOutput::checked(HashedFile const& file) {
  std::string const& name = file.shown;
  if (!file.digest) {
    ++problems_;
    lines_ += name + ": FAILED (" + file.problem + ")\n";
  } else if (blake3_hex(*file.digest) != file.expected) {
    ++mismatches_;
    lines_ += name + ": FAILED\n";
  } else if (format_ == HashFormat::check) {
    lines_ += name + ": OK\n";
  }
}

void HashOutput::as_json(HashedFile const& file) {
  Json json{{"schema", 1}, {"kind", "hashed file"}, {"path", file.path}};
  if (file.digest) {
    json["bytes"] = file.bytes;
    json["blake3"] = blake3_hex(*file.digest);
    if (!file.expected.empty()) {
      bool const matches = blake3_hex(*file.digest) == file.expected;
      json["matches"] = matches;
      if (!matches) ++mismatches_;
    }
  } else {
    complain(file.path, file.problem);
    json["problem"] = file.problem;
  }
  lines_ += line_of(json);
}

Json HashOutput::row_of(HashedFile const& file) const {
  std::string const hash = file.digest ? blake3_hex(*file.digest) : "";
  return {{"path", file.path},
          {"bytes", file.digest ? Json(file.bytes) : Json(nullptr)},
          {"blake3", or_null(hash)},
          {"matches", file.digest && !file.expected.empty() ? Json(hash == file.expected) : Json(nullptr)},
          {"problem", or_null(file.problem)}};
}

void HashOutput::as_csv(HashedFile const& file) {
  std::array<Json, 1> const row{row_of(file)};
  if (!file.digest) complain(file.path, file.problem);
  if (row[0].at("matches") == false) ++mismatches_;
  lines_ += csv_of(row, files_ == 1);
}

std::string HashOutput::page_results(std::string const& command_line) const {
  std::vector<std::string> sentences;
  if (rows_.size() < files_)
    sentences.push_back("The lines are of the first " + count_text(rows_.size(), "file") + " of " +
                        std::to_string(files_) + "; penstock hash --csv prints all.");
  Json const json{
      {"schema", 1}, {"kind", "hash"}, {"date", date_now()}, {"command", command_line}, {"summary", summary_}};
  return with_lines(json.dump(-1, ' ', false, Json::error_handler_t::replace), rows_, sentences);
}

void HashOutput::summary(HashSummary const& of) {
  flush();
  if (format_ != HashFormat::json && !keeps_rows_) return;
  Report const& report = of.report;
  Json lanes = Json::array();
  for (LaneSummary const& lane : report.lanes) {
    lanes.push_back({{"tiles", lane.tiles}, {"bytes_up", lane.bytes_up}, {"bytes_down", lane.bytes_down}});
  }
  Json devices = Json::array();
  for (DeviceSummary const& one : report.devices) {
    devices.push_back({{"name", one.name},
                       {"lanes", one.lanes},
                       {"tiles", {{"done", one.tiles}, {"failed", one.failed}}},
                       {"loss", one.loss.empty() ? Json(nullptr) : Json(one.loss)}});
  }
  Json summary{
      {"device", of.device.name},
      {"files", files_},
      {"problems", problems_.load()},
      {"mismatches", mismatches_},
      {"bytes", report.bytes_in + (of.head_start ? of.head_start->bytes : 0) + of.grouped.bytes},
      {"wall_s", seconds(report.wall + (of.head_start ? of.head_start->wall : std::chrono::nanoseconds(0)))},
      {"head_start", head_start(of.head_start)},
      {"small_files", {{"files", of.grouped.files}, {"bytes", of.grouped.bytes}}},
      {"tiles", {{"done", report.tiles_done}, {"failed", report.tiles_failed}, {"cancelled", report.tiles_cancelled}}},
      {"pool", pool_of(of.pool)},
      {"borrow_wait_s", seconds(report.borrow_wait)},
      {"producers_rest_s", seconds(report.producers_rest)},
      {"fill_s", seconds(report.fill)},
      {"sink_s", seconds(report.sink)},
      {"stopped", report.stopped},
      {"lanes", lanes},
      {"devices", devices},
      {"model", or_null(of.device.model)},
      {"slower", slower_or_null(of.device.model)},
      {"verdict", of.verdict ? as_members(*of.verdict) : Json(nullptr)}};
  if (report.first_failure) {
    summary["first_failure"] = {{"stage", report.first_failure->failure.stage},
                                {"reason", report.first_failure->failure.reason}};
  }
  if (format_ == HashFormat::json) lines_ += line_of(Json{{"schema", 1}, {"kind", "hash"}, {"summary", summary}});
  summary_ = std::move(summary);
  flush();
}

std::optional<std::string> broken_off(Report const& report) {
  if (!report.run_failures.empty()) return report.run_failures.front().reason;
  if (report.first_sink_failure) return report.first_sink_failure->failure.reason;
  return std::nullopt;
}

}  // namespace penstock::cli
