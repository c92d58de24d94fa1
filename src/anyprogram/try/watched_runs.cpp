// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/try/watched_runs.hpp"

#include <algorithm>
#include <span>

#include "anyprogram/watched/log_folder.hpp"
#include "anyprogram/watched/model.hpp"
#include "anyprogram/watched/process_results.hpp"
#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

char const* way_of(Contender contender) {
  return contender == Contender::baseline ? "as it is" : "with per-thread default streams";
}

/// The reason why these logs show nothing; empty if they do.
std::string obstacle_in(std::span<WatchLog const> logs) {
  if (logs.empty())
    return "the driver did not load libpenstock-watch.so into it. See that it starts nothing without "
           "CUDA_INJECTION64_PATH.";
  for (WatchLog const& log : logs)
    if (log.refusal != watch_log::Refusal::none)
      return refusal_text(static_cast<std::uint64_t>(log.refusal), log.refusal_code);
  return "";
}

bool has_all_works(WatchLog const& log) {
  return log.full_at == 0 && log.lost == 0;
}

}  // namespace

bool WatchedRuns::watch(Contender contender, Variables variables, ProgramEnd const& before, RunOnce const& run) {
  std::string obstacle;
  try {
    LogFolder const folder("");
    for (auto& variable : folder.environment(usual_log_bytes)) variables.push_back(std::move(variable));
    ProgramEnd const end = run(variables);
    if (end.overtime) {
      obstacle = "it then took far longer, or more than a quarter of the time that was left: raise --within.";
    } else if (end.code != before.code || end.signal != before.signal) {
      obstacle = "it ends in another way then. " + last_words(end);
    } else {
      auto const [logs, missing] = folder.read();
      obstacle = missing.empty() ? obstacle_in(logs) : missing.front();
      // A pair counts, though other logs are missing.
      if (contender == Contender::baseline)
        for (WatchLog const& log : logs) look_for_hazards(log);
      order_known_ = order_known_ || (contender == Contender::baseline && (obstacle.empty() || pairs_ > 0));
      if (obstacle.empty()) {
        if (std::all_of(logs.begin(), logs.end(), has_all_works)) {
          gpu_[static_cast<std::size_t>(contender)] = static_cast<double>(busy_time(logs)) * 1e-9;
        } else {
          remark(std::string("It did more ") + way_of(contender) +
                 " than a log has room for: its GPU time is not known. Give it less to do.");
        }
      }
    }
  } catch (Error const& error) {
    obstacle = error.what();
  }
  if (!obstacle.empty()) remark(std::string("It could not be watched ") + way_of(contender) + ": " + obstacle);
  return obstacle.empty();
}

void WatchedRuns::look_for_hazards(WatchLog const& log) {
  Hazards const hazards = find_hazards(log);
  if (pairs_ == 0 && !hazards.pairs.empty()) first_pair_ = penstock::cli::as_text(hazards.pairs.front(), log);
  pairs_ += hazards.count;
  launches_ += hazards.launches;
  launches_and_copies_ += hazards.launches_and_copies;
  found_.push_back(
      {{{"process", log.process}, {"program", log.program}, {"hazards", penstock::cli::as_json(hazards, log)}},
       penstock::cli::as_text(hazards, log)});
}

void WatchedRuns::tell(WholeComparison& compared) const {
  for (Contender const contender : {Contender::baseline, Contender::candidate})
    if (double const seconds = gpu_[static_cast<std::size_t>(contender)]; seconds >= 0)
      compared.set_gpu(contender, seconds);
  if (pairs_ == 0) {
    if (order_known_) compared.without_cause(false);
    return;
  }
  compared.object("Nothing but the legacy default stream keeps " +
                  (pairs_ == 1
                       ? std::string("two copies or memsets on the same bytes in order: ")
                       : std::to_string(pairs_) + " pairs of copies or memsets on the same bytes in order, such as: ") +
                  first_pair_ + ".");
}

std::string WatchedRuns::as_text() const {
  std::string text;
  for (Found const& found : found_) {
    if (found.text.empty()) continue;
    text += "\nWhat only the legacy default stream keeps in order";
    if (found_.size() > 1) text += ", in process " + found.json.at("process").dump();
    text += "\n" + found.text;
  }
  if (text.empty() && order_known_)
    text = "The legacy default stream alone keeps nothing in order among its copies, memsets and launches.\n";
  for (std::string const& sentence : remarks_) text += sentence + "\n";
  return text;
}

Json WatchedRuns::as_json() const {
  Json processes = Json::array();
  for (Found const& found : found_) processes.push_back(found.json);
  Json json{{"hazards", nullptr}, {"launches", nullptr}, {"launches_and_copies", nullptr}};
  if (order_known_)
    json = {{"hazards", pairs_}, {"launches", launches_}, {"launches_and_copies", launches_and_copies_}};
  json["processes"] = std::move(processes);
  json["remarks"] = remarks_;
  return json;
}

}  // namespace penstock::cli
