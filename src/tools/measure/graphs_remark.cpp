// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/graphs_remark.hpp"

#include <cstdint>

namespace penstock::measure {
namespace {

/// Tiles of all lanes.
struct Counts {
  std::uint64_t tiles = 0, mapped = 0, graphs = 0;

  explicit Counts(Report const& report) {
    for (LaneSummary const& lane : report.lanes) {
      tiles += lane.tiles;
      mapped += lane.mapped;
      graphs += lane.graphs;
    }
  }
  bool mostly_graphs() const { return graphs > 0 && 2 * graphs >= tiles; }
};

/// Of work that could be captured, or not; by what became of most of those that were not launched as one.
std::string why_few(Setting const& setting, Counts const& counts) {
  if (setting.work == Work::copy) return "--work copy launches nothing that could be one.";
  if (setting.work == Work::hash) return "--work hash does something else for each tile, by its tag.";
  if (2 * counts.mapped > counts.tiles - counts.graphs) {
    std::string const mapped = counts.mapped == counts.tiles ? "all" : std::to_string(counts.mapped);
    return "graphs are for tiles that are copied, and " + mapped + " were mapped; --transport copies has none mapped.";
  }
  return "what was copied went in batches, which the stage takes by one call; --batch 1 has none.";
}

std::string how_few(Counts const& counts) {
  if (counts.graphs == 0) return "No tile was launched as a graph: ";
  return "Only " + std::to_string(counts.graphs) + " of " + std::to_string(counts.tiles) + " tiles " +
         (counts.graphs == 1 ? "was launched as a graph: " : "were launched as graphs: ");
}

}  // namespace

bool mostly_graphs(Report const& report) {
  return Counts(report).mostly_graphs();
}

std::string graphs_remark(Setting const& setting, Report const& report) {
  for (LaneSummary const& lane : report.lanes) {
    if (lane.not_captured != nullptr) {
      return "Its work could not be captured, and was launched call by call: " + lane.not_captured->reason;
    }
  }
  Counts const counts(report);
  if (setting.graphs != Graphs::always || counts.tiles == 0 || counts.mostly_graphs()) return "";
  return how_few(counts) + why_few(setting, counts);
}

}  // namespace penstock::measure
