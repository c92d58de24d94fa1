// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "penstock/lease/workers.hpp"
#include "penstock/operate/operation.hpp"

namespace penstock::cli {

/// Adds what a ledger has, and its workers: leases by state, those that processes lost, ages, tries; workers, and how
/// many were replaced. What was not seen yet is left out.
void add_metrics(std::vector<Metric>& metrics, WorkersSnapshot const& snapshot);

/// Well, if a worker runs, or none is to run any more.
Health health_of(WorkersSnapshot const& snapshot);

}  // namespace penstock::cli
