// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/figures.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <map>

#include "penstock/error.hpp"

namespace penstock::measure {
namespace {

/// Counts of tiles of all lanes.
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

/// The reason for few graphs, for work that could be captured or not; it follows from what became of most tiles that
/// were not launched as graphs.
std::string why_few(Setting const& setting, Counts const& counts) {
  std::optional<Work> const work =
      setting.job == nullptr ? std::optional(BuiltIn(setting.point().values).work) : std::nullopt;
  if (work == Work::copy) return "--work copy launches nothing that could be one.";
  if (work == Work::hash) return "--work hash does something else for each tile, by its tag.";
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

void expect_contents(double tiles, double bytes_per_tile) {
  if (tiles <= 0) throw Error(ErrorKind::device_refused, nothing_came);
  if (!(bytes_per_tile > 0)) {
    throw Error(ErrorKind::device_refused, "No tile had a byte in it: is the input empty?");
  }
}

std::size_t bytes_of(TileShape const& shape) noexcept {
  std::size_t inputs = shape.input_bytes;
  for (std::size_t const more : shape.more_input_bytes) inputs += more;
  return inputs > 0 ? inputs : shape.output_bytes;
}

Direction direction_of(TileShape const& shape) noexcept {
  if (shape.output_bytes == 0) return Direction::in;
  return shape.input_bytes == 0 ? Direction::out : Direction::both;
}

void PointResult::add(double tiles_a_second, double cpu_s, bool in_own_process, std::string const& late) {
  if (!late.empty() && judged_by_its_clock()) return;
  if (late.empty() && !too_slow.empty()) {
    tiles_per_second.clear();
    cpu_s_per_tile.clear();
    apart = 0;
    too_slow.clear();
  }
  if (too_slow.empty()) too_slow = late;
  tiles_per_second.push_back(tiles_a_second);
  cpu_s_per_tile.push_back(cpu_s);
  if (in_own_process) ++apart;
}

double bytes_per_tile(PointResult const& result) {
  if (result.last && result.last->bytes_per_tile > 0) return result.last->bytes_per_tile;
  return static_cast<double>(bytes_of(result.point.setting.shape_of_tile()));
}

std::optional<double> lowest(Ceilings const& ceilings, Direction direction) {
  std::optional<double> least;
  auto const consider = [&](std::optional<double> const& one) {
    if (one && (!least || *one < *least)) least = one;
  };
  consider(direction == Direction::in    ? ceilings.run_upload()
           : direction == Direction::out ? ceilings.run_download()
                                         : ceilings.run_both());
  consider(ceilings.fill);
  consider(ceilings.kernel);
  return least;
}

Ceilings greatest(std::span<Ceilings const> tries) {
  Ceilings most;
  for (auto const which : {&Ceilings::upload, &Ceilings::download, &Ceilings::both, &Ceilings::batched_upload,
                           &Ceilings::batched_download, &Ceilings::batched_both, &Ceilings::fill, &Ceilings::fill_twice,
                           &Ceilings::kernel, &Ceilings::submission, &Ceilings::link_up, &Ceilings::link_down}) {
    for (Ceilings const& one : tries)
      most.*which = std::max(most.*which, one.*which);  // An empty one is less than any
                                                        // other.
  }
  return most;
}

Ceilings of_part_filled(Ceilings measured, double part) {
  for (auto const which : {&Ceilings::upload, &Ceilings::download, &Ceilings::both, &Ceilings::batched_upload,
                           &Ceilings::batched_download, &Ceilings::batched_both, &Ceilings::kernel}) {
    if (measured.*which) measured.*which = *(measured.*which) / part;
  }
  return measured;
}

Ceilings ceilings_of(Report const& report, Ceilings measured) {
  if (mostly_graphs(report)) {
    measured.kernel.reset();
    measured.submission.reset();
  }
  return measured;
}

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
  if (setting.pipeline.tuning.graphs != Graphs::always || counts.tiles == 0 || counts.mostly_graphs()) return "";
  return how_few(counts) + why_few(setting, counts);
}

std::string digest_text(std::uint64_t digest) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%016llx", static_cast<unsigned long long>(digest));
  return text.data();
}

void expect_same_results(std::span<PointResult> results) {
  struct Digests {
    std::map<std::uint64_t, std::size_t> points = {};
    std::uint64_t first = 0;

    std::uint64_t usual() const {
      auto most = points.find(first);
      for (auto one = points.begin(); one != points.end(); ++one) {
        if (one->second > most->second) most = one;
      }
      return most->first;
    }
  };
  std::map<JobValues, Digests> by_values;
  for (PointResult const& result : results) {
    if (!result.digest) continue;
    Digests& digests = by_values[result.point.setting.point().values];
    if (digests.points.empty()) digests.first = *result.digest;
    ++digests.points[*result.digest];
  }
  for (PointResult& result : results) {
    if (!result.digest || !result.error.empty()) continue;
    std::uint64_t const usual = by_values[result.point.setting.point().values].usual();
    if (*result.digest == usual) continue;
    result.error = "Its results are not those of the other points: their digest is " + digest_text(*result.digest) +
                   " instead of " + digest_text(usual) + ".";
  }
}

bool cut_to_recorded(Traced& traced, Metered& metered) {
  Recording const& recording = traced.recording;
  if (recording.missed == 0) return true;
  std::int64_t full = traced.opened, device_full = traced.opened;
  bool on_device = false;
  for (Passage const& passage : recording.passages) {
    bool const of_device = happens_on_device(passage.step);
    on_device = on_device || of_device;
    auto& last = of_device ? device_full : full;
    last = std::max(last, passage.end);
  }
  // Passages on the device are noted once the host hears of them: none of those under way was.
  if (on_device) full = std::min(full, device_full);
  if (full >= traced.closed) return true;  // It was full when the window had closed.
  double const part = static_cast<double>(full - traced.opened) / static_cast<double>(traced.closed - traced.opened);
  traced.closed = full;
  metered.seconds *= part;
  metered.tiles *= part;
  metered.cpu_seconds *= part;
  return full > traced.opened;
}

}  // namespace penstock::measure
