// SPDX-License-Identifier: Apache-2.0
#include "programs/work/ledger_status.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include <nlohmann/json.hpp>

#include "engine/core/number_text.hpp"
#include "programs/command/progress.hpp"
#include "programs/command/results.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

Json seconds(std::optional<std::chrono::milliseconds> time) {
  return time ? Json(std::chrono::duration<double>(*time).count()) : Json(nullptr);
}

/// What a lease is of, in one line; its payload may be anything.
std::string name_of(ParkedLease const& lease) {
  std::string text = "lease " + std::to_string(lease.number);
  if (!lease.work.path.empty()) text += " (" + lease.work.path + ")";
  return text;
}

constexpr char const* end_it =
    "This transaction keeps the server from removing dead rows, and each exchange reads past them. End it.";

bool is_long_open(LedgerUpkeep const& upkeep) {
  return upkeep.oldest_transaction > std::chrono::seconds(60);
}

/// Lines on what a server keeps.
std::string upkeep_text(LedgerUpkeep const& upkeep) {
  std::string text = count_text(upkeep.dead_rows, "dead row");
  if (!upkeep.oldest_transaction) return text + "\n";
  text += "; the oldest transaction of the database has been open for " +
          seconds_text(std::chrono::duration<double>(*upkeep.oldest_transaction).count()) + ": " +
          upkeep.transaction_of + "\n";
  return is_long_open(upkeep) ? text + end_it + "\n" : text;
}

Json as_json(ParkedLease const& lease) {
  bool const to_the_end = lease.work.length == LeaseWork::to_the_end;
  return {{"number", lease.number},
          {"tries", lease.tries},
          {"reason", lease.reason},
          {"path", or_null(lease.work.path)},
          {"offset_bytes", lease.work.offset},
          {"length_bytes", to_the_end ? Json(nullptr) : Json(lease.work.length)}};
}

}  // namespace

std::string status_text(LedgerStatus const& status) {
  std::string text = describe(status.progress) + "\n" + short_number(status.leases_per_second) + " leases/s";
  if (status.progress.retries != 0) text += "; " + std::to_string(status.progress.retries) + " tries beyond the first";
  if (status.progress.oldest_ready && status.progress.ready != 0)
    text += "; the first that is ready has waited for " +
            seconds_text(std::chrono::duration<double>(*status.progress.oldest_ready).count());
  text += status.progress.finished() ? "; finished\n" : status.progress.closed ? "\n" : "; more may be enqueued\n";
  if (status.upkeep) text += upkeep_text(*status.upkeep);
  for (ParkedLease const& one : status.parked)
    text += name_of(one) + " is parked after " + std::to_string(one.tries) + (one.tries == 1 ? " try: " : " tries: ") +
            one.reason + "\n";
  if (status.progress.parked > status.parked.size())
    text += std::to_string(status.progress.parked - status.parked.size()) + " more are parked.\n";
  return text;
}

Json row_of(LedgerStatus const& status) {
  LedgerProgress const& all = status.progress;
  auto const& kept = status.upkeep;
  return {{"date", date_now()},
          {"ledger", status.ledger},
          {"leases", all.leases},
          {"ready", all.ready},
          {"out", all.out},
          {"done", all.done},
          {"parked", all.parked},
          {"suspects", all.suspects},
          {"lost", all.lost},
          {"retries", all.retries},
          {"owners", all.owners},
          {"closed", all.closed},
          {"finished", all.finished()},
          {"leases_per_s", status.leases_per_second},
          {"oldest_out_s", seconds(all.oldest_out)},
          {"oldest_ready_s", seconds(all.oldest_ready)},
          {"dead_rows", kept ? Json(kept->dead_rows) : Json(nullptr)},
          {"oldest_transaction_s", kept ? seconds(kept->oldest_transaction) : Json(nullptr)},
          {"oldest_transaction", kept ? or_null(kept->transaction_of) : Json(nullptr)}};
}

std::string status_json(LedgerStatus const& status) {
  Json parked = Json::array();
  for (ParkedLease const& one : status.parked) parked.push_back(as_json(one));
  Json json{{"schema", 1}, {"kind", "ledger"}};
  json.update(row_of(status));
  json["parked_leases"] = parked;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::vector<std::string> sentences_of(LedgerStatus const& status) {
  std::vector<std::string> sentences{describe(status.progress) + "."};
  if (status.upkeep && is_long_open(*status.upkeep)) sentences.push_back(status.upkeep->transaction_of + ": " + end_it);
  return sentences;
}

std::string leases_text(LedgerProgress const& progress, double leases_per_second) {
  std::string text = std::to_string(progress.done) + " of " + count_text(progress.leases, "lease") + " done, " +
                     short_number(leases_per_second) + "/s, " + std::to_string(progress.out) + " out";
  if (progress.parked != 0) text += ", " + std::to_string(progress.parked) + " parked";
  return text;
}

std::optional<double> settled_part(LedgerProgress const& progress) {
  if (!progress.closed || progress.leases == 0) return std::nullopt;
  return static_cast<double>(progress.done + progress.parked) / static_cast<double>(progress.leases);
}

std::string work_line(WorkersSnapshot const& snapshot, unsigned width) {
  auto const running = std::ranges::count_if(snapshot.workers, [](WorkerState const& one) { return one.process != 0; });
  std::string words = count_text(static_cast<std::uint64_t>(running), "worker");
  if (snapshot.replaced != 0) words += ", " + std::to_string(snapshot.replaced) + " replaced";
  if (!snapshot.ledger) return words;
  std::string const text = leases_text(*snapshot.ledger, snapshot.leases_per_second) + "; " + words;
  return width == 0 ? text : bar_line(settled_part(*snapshot.ledger), text, width);
}

}  // namespace penstock::cli
