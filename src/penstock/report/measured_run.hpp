// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "penstock/report.hpp"
#include "penstock/report/overlap.hpp"

namespace penstock {

/// What a run was made of and where its time went, as far as that was measured.
///
/// Units: seconds and bytes; times of threads are sums over all threads of a kind.
struct RunFigures {
  double wall = 0;
  std::uint64_t tiles = 0;
  double bytes_up = 0;     ///< A tile, on average.
  double bytes_down = 0;   ///< A tile, on average.
  double tile_bytes = 0;   ///< What a tile has room for.
  double pool_bytes = 0;   ///< What a tile takes of the pool; 0 if unknown.
  unsigned producers = 0;  ///< Threads that fill. 0: the application pushes, and how long it fills is not known.
  unsigned lanes = 1;
  bool one_lane = false;       ///< The stage sees all tiles in their sequence (in_order), so there cannot be more.
  bool to_completion = false;  ///< Each lane fills and computes tiles, so parts take turns on it, and nothing waits.
  unsigned consumers = 1;
  unsigned sinks = 1;        ///< How many calls of the sink there may be at once.
  unsigned slots = 1;        ///< Tiles in flight at most, per lane.
  unsigned batch = 1;        ///< Tiles that a lane puts on the device at once, at most.
  unsigned usual_batch = 1;  ///< As many of them as are of use on such a device.
  std::uint64_t pool = 1;    ///< Tiles of the pool.
  unsigned cpus = 0;         ///< That the process may use; 0 if unknown.

  /// Producers, for a tile, or for others to need them; without producers, threads that feed, for a tile.
  double borrow_wait = 0;
  double fill = 0;                       ///< Producers, in the source.
  double sink = 0;                       ///< In the sink.
  std::optional<double> enqueue = {};    ///< Lanes, giving work to the device; with what their stages take.
  std::optional<double> meanwhile = {};  ///< Of these, with the device at work for the same tiles (at_work_meanwhile).
  std::optional<double> lane_idle = {};  ///< Lanes, with nothing to do but to wait or watch.
  std::optional<double> notice = {};     ///< Tiles that were done, until their lanes heard of it: a sum over all tiles.
  std::optional<double> cpu_time = {};   ///< All threads of the process, on a CPU.
  double cpu_of_others = 0;              ///< Other processes, on the CPUs that this one may use.
  double cpu_not_told = 0;               ///< How much more of that there may be, since the system counts in ticks.

  std::optional<Overlap> overlap = {};   ///< Of a recording that looked at every tile.
  std::optional<double> in_flight = {};  ///< Tiles, on average, of all lanes together.
  std::optional<DeviceTimes> device_times = {};

  bool gpu = false;                          ///< Another device brings what it has; CPU devices share the host's CPUs.
  SharedStream shares = SharedStream::none;  ///< What lanes do in one stream, the legacy default stream.
  /// Tiles were copied for want of a promise of their stage, on a device that could work in the host's memory.
  bool copies_in_vain = false;
  std::string late = {};       ///< Of a model: that this machine was too slow for its clock, a sentence; or empty.
  bool single_stream = false;  ///< A lane uploads, computes and downloads in one stream.
  std::string signal = {};     ///< "callback" and so on; empty if unknown.
};

/// Tiles in flight at most, of all lanes together.
inline std::uint64_t slots_of_all(RunFigures const& figures) {
  return std::uint64_t{std::max(figures.lanes, 1U)} * std::max(figures.slots, 1U);
}

/// For what part of the time the stream that lanes share had work; empty if they share none, or if that is not known.
inline std::optional<double> shared_stream_busy(RunFigures const& figures) {
  if (figures.shares == SharedStream::none || !figures.overlap || figures.overlap->window.count() == 0) return {};
  return static_cast<double>(figures.overlap->shared.count()) / static_cast<double>(figures.overlap->window.count());
}

/// What the parts of a run come to when each is alone, with tiles like the run's; what is empty was not measured.
///
/// Units: tiles per second, but for the link.
struct Ceilings {
  std::optional<double> upload = {};
  std::optional<double> download = {};
  std::optional<double> both = {};  ///< Uploads and downloads at once, of each.
  /// The same where as many tiles are one copy as the run puts on the device at once; empty if it puts each alone.
  std::optional<double> batched_upload = {};
  std::optional<double> batched_download = {};
  std::optional<double> batched_both = {};
  std::optional<double> fill = {};        ///< By as many threads as there are producers, with a plain source.
  std::optional<double> fill_twice = {};  ///< By twice as many, if there are CPUs for them.
  std::optional<double> kernel = {};      ///< In as many streams as it takes, batches as the run's.
  /// The calls for a batch like the run's, by as many threads as it takes, to a device with nothing to do.
  std::optional<double> submission = {};
  /// Bytes per second of copies one way so large that their set-up does not count, with nothing going the other way.
  std::optional<double> link_up = {};
  std::optional<double> link_down = {};  ///< The same, down.

  /// What copies like the run's come to.
  std::optional<double> run_upload() const { return batched_upload ? batched_upload : upload; }
  std::optional<double> run_download() const { return batched_download ? batched_download : download; }
  std::optional<double> run_both() const { return batched_both ? batched_both : both; }
};

}  // namespace penstock
