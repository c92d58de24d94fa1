// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "observe/verdict/run_figures.hpp"
#include "penstock/observe/recording.hpp"
#include "penstock/report.hpp"
#include "programs/measure/axis.hpp"
#include "programs/measure/built_in.hpp"
#include "programs/measure/meter.hpp"
#include "programs/measure/setting.hpp"

namespace penstock::measure {

/// Result of one run of a setting.
struct Trial {
  Metered metered;
  Report report;
  PipelineOptions options;         ///< Options that the setting led to on this machine.
  std::uint64_t pinned_bytes = 0;  ///< Maximum that was held, by memory_peaks.
  std::uint64_t device_bytes = 0;  ///< Maximum of device memory that was held, by memory_peaks.
  double bytes_per_tile = 0;       ///< Bytes of one direction, as filled in the tiles of the run.
  double items_per_tile = 0;       ///< Items by Job::items; 0 if it counts none.
};

/// The sentence on a run in which no tile was done.
inline constexpr char const* nothing_came = "No tile came through in the time there was.";
/// Refuses figures of a run that did nothing: of no tile, or of tiles that held no byte. They would be the best of all.
///
/// Throws: Error of kind device_refused.
void expect_contents(double tiles, double bytes_per_tile);

/// Bytes of a tile of this shape, in one direction: of its inputs, or of its output if it has none.
std::size_t bytes_of(TileShape const& shape) noexcept;
/// Directions in which tiles of this shape are copied.
Direction direction_of(TileShape const& shape) noexcept;

/// Time of tiles from the moment they were due to the sink.
///
/// Units: microseconds.
struct Latency {
  double load_tiles_per_second = 0;  ///< The load that was asked for.
  double p50 = 0;
  double p99 = 0;
  double p999 = 0;
};

/// The lowest of the ceilings that apply to the direction, in tiles per second; empty without any.
std::optional<double> lowest(Ceilings const& ceilings, Direction direction);

/// The greatest value of each part among all tries: any disturbance makes a part slower, and none beats its ceiling.
Ceilings greatest(std::span<Ceilings const> tries);

/// The ceilings of tiles of which only this part is filled. `measured` are those of full tiles, except filling, which
/// is measured with tiles as the source fills them.
///
/// Shape: `part` is above 0, and 1 at most.
Ceilings of_part_filled(Ceilings measured, double part);

/// The ceilings of the parts that bound such a run. Kernel and submission are measured call by call: where most tiles
/// were launched as graphs, which takes fewer calls, a run may reach more, and they are left out.
Ceilings ceilings_of(Report const& report, Ceilings measured);

/// Passages of every tile of one more run of a point.
struct Traced {
  Recording recording;
  std::int64_t opened = 0;  ///< Nanoseconds of the recording at which the window began.
  std::int64_t closed = 0;  ///< Nanoseconds at which it ended.
  double tiles_per_second = 0;
};

/// All that a sweep knows of one of its points.
struct PointResult {
  Point point = {};
  std::vector<double> tiles_per_second = {};  ///< One value for each repeat.
  std::vector<double> cpu_s_per_tile = {};    ///< One value for each repeat.
  std::size_t apart = 0;                      ///< Number of these repeats that had a process each; the others share
                                              ///< one.
  std::optional<Trial> last = {};             ///< The last repeat.
  std::optional<Latency> latency = {};
  std::optional<Ceilings> ceilings = {};  ///< The ceilings of its last repeat, by `ceilings_of`.
  std::optional<Traced> traced = {};
  std::optional<Verdict> verdict = {};
  std::optional<std::uint64_t> digest = {};  ///< Digest of the results of the whole input, if the job gives one.
  std::vector<std::string> remarks = {};     ///< Sentences on what could not be measured beside it, and why.
  std::string too_slow = {};                 ///< For a model: says that this machine was too slow in all repeats; or
                                             ///< empty.
  std::string late_ceilings = {};            ///< The same sentence for the time of the ceilings; or empty.
  std::string error = {};                    ///< Reason why it could not be measured; empty if it could.

  /// True if its figures are the device's: it was measured, and no clock was late meanwhile.
  bool judged_by_its_clock() const { return error.empty() && !tiles_per_second.empty() && too_slow.empty(); }
  /// Adds a repeat. One in which a clock was late, as `late` says, counts only as long as there is no other.
  void add(double tiles_a_second, double cpu_s, bool in_own_process, std::string const& late);
};

/// Bytes of a tile that count as its size in GB/s: one direction, as far as tiles are filled.
double bytes_per_tile(PointResult const& result);

/// True if at least half of its tiles were launched as graphs.
bool mostly_graphs(Report const& report);

/// A sentence on why a run launched no tiles, or few, as graphs. It is given if its stage could not be captured, or if
/// graphs were asked for (Graphs::always) and less than half of the tiles had them. Else empty.
std::string graphs_remark(Setting const& setting, Report const& report);

/// "0x00000000000012ab".
std::string digest_text(std::uint64_t digest);

/// Compares the digests of points that have the same values of the job's own options. A point gets an error if its
/// digest differs from that of most of them, or, without a majority, from that of the first.
void expect_same_results(std::span<PointResult> results);

/// A recorder that was full before the window closed has missed the rest of it. Lets both end where it was full: the
/// remaining window is recorded completely, and `metered` keeps that part of tiles and CPU time.
///
/// False if nothing is left.
bool cut_to_recorded(Traced& traced, Metered& metered);

}  // namespace penstock::measure
