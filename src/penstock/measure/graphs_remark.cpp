// SPDX-License-Identifier: Apache-2.0
#include "penstock/measure/graphs_remark.hpp"

#include <cstdint>

namespace penstock::measure {
namespace {

/// Of work that could be captured, or not.
std::string why_none(Setting const& setting, bool all_mapped) {
  if (setting.work == Work::copy) return "--work copy launches nothing that could be one.";
  if (setting.work == Work::hash) return "--work hash does something else for each tile, by its tag.";
  if (all_mapped)
    return "graphs are for tiles that are copied, and all were mapped; --transport copies has none mapped.";
  return "what was copied went in batches, which the stage takes by one call; --batch 1 has none.";
}

}  // namespace

std::string graphs_remark(Setting const& setting, Report const& report) {
  std::uint64_t tiles = 0, mapped = 0, graphs = 0;
  for (LaneSummary const& lane : report.lanes) {
    if (lane.not_captured != nullptr) {
      return "Its work could not be captured, and was launched call by call: " + lane.not_captured->reason;
    }
    tiles += lane.tiles;
    mapped += lane.mapped;
    graphs += lane.graphs;
  }
  if (setting.graphs != Graphs::always || graphs > 0 || tiles == 0) return "";
  return "No tile was launched as a graph: " + why_none(setting, mapped == tiles);
}

}  // namespace penstock::measure
