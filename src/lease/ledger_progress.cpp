// SPDX-License-Identifier: Apache-2.0
#include "engine/core/number_text.hpp"
#include "penstock/lease/ledger.hpp"

namespace penstock {

double leases_per_second(LedgerProgress const& before, LedgerProgress const& after) noexcept {
  double const seconds = std::chrono::duration<double>(after.at - before.at).count();
  return seconds > 0 && after.done >= before.done ? static_cast<double>(after.done - before.done) / seconds : 0;
}

std::string describe(LedgerProgress const& progress) {
  auto const seconds = [](std::chrono::milliseconds time) {
    return seconds_text(std::chrono::duration<double>(time).count());
  };
  std::string text = std::to_string(progress.done) + " of " + count_text(progress.leases, "lease") + " done, " +
                     std::to_string(progress.out) + " out";
  if (progress.lost != 0) text += " (" + std::to_string(progress.lost) + " of processes that ended)";
  if (progress.oldest_out) text += " (the oldest for " + seconds(*progress.oldest_out) + ")";
  text += ", " + std::to_string(progress.ready) + " ready";
  if (progress.suspects != 0) text += " (" + std::to_string(progress.suspects) + " to go alone)";
  text += ", " + std::to_string(progress.parked) + " parked; " + count_text(progress.owners, "owner");
  return text;
}

}  // namespace penstock
