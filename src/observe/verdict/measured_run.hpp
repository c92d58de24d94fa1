// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "observe/verdict/overlap.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// Parts of a run and its times, as far as they were measured.
///
/// Units: seconds and bytes; times of threads are sums over all threads of a kind.
struct RunFigures {
  double wall = 0;
  std::uint64_t tiles = 0;
  double bytes_up = 0;     ///< Average of a tile.
  double bytes_down = 0;   ///< Average of a tile.
  double tile_bytes = 0;   ///< Size of a tile.
  double pool_bytes = 0;   ///< Size of a tile in the pool; 0 if unknown.
  unsigned producers = 0;  ///< Threads that fill. 0: the application submits tiles, and its filling time is not known.
  unsigned lanes = 1;
  bool one_lane = false;       ///< The stage gets all tiles in their sequence (in_order), so there cannot be more.
  bool to_completion = false;  ///< Each lane fills and computes tiles, so parts alternate on it, and nothing waits.
  unsigned consumers = 1;
  unsigned sinks = 1;        ///< Maximum number of simultaneous calls of the sink.
  unsigned slots = 1;        ///< Maximum number of tiles in flight per lane.
  unsigned batch = 1;        ///< Maximum number of tiles that a lane puts on the device at once.
  unsigned usual_batch = 1;  ///< Largest batch that helps on such a device.
  std::uint64_t pool = 1;    ///< Number of tiles of the pool.
  unsigned cpus = 0;         ///< Number of CPUs that the process may use; 0 if unknown.

  /// Time that producers wait for a tile, or until others need them; without producers, time that feeding threads wait
  /// for a tile.
  double borrow_wait = 0;
  double fill = 0;                       ///< Time of producers in the source.
  double sink = 0;                       ///< Time in the sink.
  std::optional<double> enqueue = {};    ///< Time of lanes for passing work to the device, including their stages.
  std::optional<double> meanwhile = {};  ///< Part of this time with the device at work for the same tiles
                                         /// (at_work_meanwhile).
  std::optional<double> lane_idle = {};  ///< Time of lanes without work, waiting or polling.
  std::optional<double> notice = {};     ///< Time from the end of a tile until its lane knew: a sum over all tiles.
  std::optional<double> cpu_time = {};   ///< CPU time of all threads of the process.
  double cpu_of_others = 0;              ///< CPU time of other processes on the CPUs that this one may use.
  double cpu_not_told = 0;               ///< Possible error of that, since the system counts in ticks.

  std::optional<Overlap> overlap = {};   ///< Overlap of a recording of every tile.
  std::optional<double> in_flight = {};  ///< Average number of tiles of all lanes together.
  std::optional<DeviceTimes> device_times = {};

  bool gpu = false;                          ///< True for a GPU; CPU devices share the host's CPUs.
  SharedStream shares = SharedStream::none;  ///< Work of lanes in one stream, the legacy default stream.
  /// Tiles were copied because their stage lacks a promise, on a device that could work in host memory.
  bool copies_in_vain = false;
  std::string late = {};       ///< A sentence, for a model, that this machine was too slow for its clock; or empty.
  bool single_stream = false;  ///< True if a lane uploads, computes and downloads in one stream.
  std::string signal = {};     ///< Name of the signal, "callback" and so on; empty if unknown.
};

/// Maximum number of tiles in flight, of all lanes together.
inline std::uint64_t slots_of_all(RunFigures const& figures) {
  return std::uint64_t{std::max(figures.lanes, 1U)} * std::max(figures.slots, 1U);
}

/// Part of the time in which the stream that lanes share had work; empty if they share none, or if it is not known.
inline std::optional<double> shared_stream_busy(RunFigures const& figures) {
  if (figures.shares == SharedStream::none || !figures.overlap || figures.overlap->window.count() == 0) return {};
  return static_cast<double>(figures.overlap->shared.count()) / static_cast<double>(figures.overlap->window.count());
}

/// Throughput of each part of a run alone, with tiles like the run's; empty members were not measured.
///
/// Units: tiles per second, but for the link.
struct Ceilings {
  std::optional<double> upload = {};
  std::optional<double> download = {};
  std::optional<double> both = {};  ///< Throughput of each of uploads and downloads at once.
  /// Throughputs if one copy has as many tiles as the run puts on the device at once; empty if it puts each alone.
  std::optional<double> batched_upload = {};
  std::optional<double> batched_download = {};
  std::optional<double> batched_both = {};
  std::optional<double> fill = {};        ///< Measured with one thread for each producer, and a plain source.
  std::optional<double> fill_twice = {};  ///< Measured with twice as many threads, if there are CPUs for them.
  std::optional<double> kernel = {};      ///< Measured in as many streams as needed, with batches like the run's.
  /// Rate of the calls for a batch like the run's, with as many threads as needed, to an idle device.
  std::optional<double> submission = {};
  /// Bytes per second of copies in one direction that are so large that their set-up does not count, with no copies in
  /// the other.
  std::optional<double> link_up = {};
  std::optional<double> link_down = {};  ///< Bytes per second of such downloads.

  /// Throughput of copies like the run's.
  std::optional<double> run_upload() const { return batched_upload ? batched_upload : upload; }
  std::optional<double> run_download() const { return batched_download ? batched_download : download; }
  std::optional<double> run_both() const { return batched_both ? batched_both : both; }
};

}  // namespace penstock
