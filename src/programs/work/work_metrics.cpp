// SPDX-License-Identifier: Apache-2.0
#include "programs/work/work_metrics.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

namespace penstock::cli {
namespace {

double seconds_or_none(std::optional<std::chrono::milliseconds> time) {
  return time ? std::chrono::duration<double>(*time).count() : 0;
}

double value_of(std::uint64_t count) {
  return static_cast<double>(count);
}

void add_ledger(std::vector<Metric>& metrics, LedgerProgress const& ledger) {
  auto const gauge = [&](char const* name, char const* help, double value) {
    metrics.push_back({.name = name, .help = help, .samples = {{.value = value}}});
  };
  Metric states{.name = "penstock_leases", .help = "Leases of the ledger by state."};
  for (auto const& [state, count] : {std::pair{"ready", ledger.ready}, std::pair{"out", ledger.out},
                                     std::pair{"done", ledger.done}, std::pair{"parked", ledger.parked}})
    states.samples.push_back({.labels = {{"state", state}}, .value = value_of(count)});
  metrics.push_back(std::move(states));
  gauge("penstock_leases_lost", "Leases that are out to processes that ended.", value_of(ledger.lost));
  gauge("penstock_leases_suspect", "Leases that are ready, to be handed out alone.", value_of(ledger.suspects));
  gauge("penstock_leases_oldest_out_seconds", "Time for which a lease has been out, at most; 0 if none is out.",
        seconds_or_none(ledger.oldest_out));
  gauge("penstock_leases_oldest_ready_seconds", "Time since the first ready lease was enqueued; 0 if none is ready.",
        seconds_or_none(ledger.oldest_ready));
  gauge("penstock_lease_owners", "Processes that have joined the ledger.", value_of(ledger.owners));
  metrics.push_back({.name = "penstock_lease_retries",
                     .help = "Tries beyond the first of each lease.",
                     .kind = MetricKind::counter,
                     .samples = {{.value = value_of(ledger.retries)}}});
}

}  // namespace

void add_metrics(std::vector<Metric>& metrics, WorkersSnapshot const& snapshot) {
  if (snapshot.ledger) add_ledger(metrics, *snapshot.ledger);
  auto const running = std::ranges::count_if(snapshot.workers, [](WorkerState const& one) { return one.process != 0; });
  auto const waiting =
      std::ranges::count_if(snapshot.workers, [](WorkerState const& one) { return one.process == 0 && !one.is_over; });
  metrics.push_back({.name = "penstock_workers",
                     .help = "Workers that run, and that wait to be started again.",
                     .samples = {{.labels = {{"state", "running"}}, .value = static_cast<double>(running)},
                                 {.labels = {{"state", "waiting"}}, .value = static_cast<double>(waiting)}}});
  metrics.push_back({.name = "penstock_workers_replaced",
                     .help = "Workers that ended, and were started again.",
                     .kind = MetricKind::counter,
                     .samples = {{.value = value_of(snapshot.replaced)}}});
  metrics.push_back({.name = "penstock_workers_hung",
                     .help = "Workers that were killed because they hung.",
                     .kind = MetricKind::counter,
                     .samples = {{.value = value_of(snapshot.hung)}}});
}

Health health_of(WorkersSnapshot const& snapshot) {
  bool const all_wait =
      std::ranges::none_of(snapshot.workers, [](WorkerState const& one) { return one.process != 0 || one.is_over; });
  if (all_wait) return {.well = false, .sentence = "no worker runs"};
  return {};
}

}  // namespace penstock::cli
