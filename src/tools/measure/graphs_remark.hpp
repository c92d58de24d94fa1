// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "penstock/flow/report.hpp"
#include "tools/measure/setting.hpp"

namespace penstock::measure {

/// True if half of its tiles or more were launched as graphs.
bool mostly_graphs(Report const& report);

/// A sentence on why a run launched nothing as a graph, or few of its tiles: if its stage could not be captured, or if
/// that was asked for (Graphs::always) and came to less than half. Else empty.
std::string graphs_remark(Setting const& setting, Report const& report);

}  // namespace penstock::measure
