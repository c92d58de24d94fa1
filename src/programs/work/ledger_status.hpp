// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "penstock/lease/ledger.hpp"
#include "penstock/lease/workers.hpp"

// What `penstock work` says of a ledger.
//
// Threads: any.
namespace penstock::cli {

/// What a ledger has at one moment.
struct LedgerStatus {
  std::string ledger;  ///< Its path.
  LedgerProgress progress = {};
  double leases_per_second = 0;
  std::optional<LedgerUpkeep> upkeep = {};
  std::vector<ParkedLease> parked = {};  ///< The first of them.
};

/// Lines for people: what there is, its rate, and a line for each parked lease.
std::string status_text(LedgerStatus const& status);
/// A line of JSON, as docs/results.md has it.
std::string status_json(LedgerStatus const& status);
/// Its members but for the parked leases.
nlohmann::ordered_json row_of(LedgerStatus const& status);
/// What a page says first.
std::vector<std::string> sentences_of(LedgerStatus const& status);
/// What is done, how fast, and what is out: "12 of 40 leases done, 3.1/s, 2 out".
std::string leases_text(LedgerProgress const& progress, double leases_per_second);
/// The part of a closed ledger's leases that are done or parked, 0 to 1; empty for others.
std::optional<double> settled_part(LedgerProgress const& progress);
/// A line without its end: what is done, how fast, and the workers. `width` is that of the terminal; 0: no bar.
std::string work_line(WorkersSnapshot const& snapshot, unsigned width = 0);

}  // namespace penstock::cli
