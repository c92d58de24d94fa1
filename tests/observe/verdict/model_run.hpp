// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>

#include "engine/core/number_text.hpp"
#include "observe/verdict/run_figures.hpp"

namespace penstock {

/// A pipeline in theory: what each part does for a tile takes the same time whatever the others do, and the part that
/// allows the least sets the pace. Its figures are what a run of it would be seen to do.
///
/// Units: seconds and bytes.
struct ModelRun {
  unsigned producers = 4, lanes = 2, consumers = 1, sinks = 1, slots = 4, cpus = 16, batch = 1, usual_batch = 1;
  std::uint64_t pool = 32;
  double tile_bytes = 1 << 20;
  double fill_per_byte = 1 / 11e9;
  double sink_time = 5e-6;
  double enqueue_time = 8e-6, retire_time = 1e-6;
  double copy_set_up = 2.5e-6, link = 55e9;
  double kernel_per_byte = 1 / 400e9;
  unsigned kernels_at_once = 1;
  double notice_time = 10e-6;
  bool legacy = false;
  bool up = true, down = true;
  bool gpu = false;
  /// A device that is threads of the host: CPUs also copy, unless its stage works in place, and compute.
  bool on_host = false, maps = false;
  bool notices = false;  ///< The time that tiles wait to be noticed is known.
  bool single = false;   ///< A lane does all in one stream.

  double ways() const { return (up ? 1 : 0) + (down ? 1 : 0); }
  double fill() const { return fill_per_byte * tile_bytes; }
  double copy() const { return copy_set_up / batch + tile_bytes / link; }
  double enqueue() const { return enqueue_time / batch; }
  double kernel() const { return kernel_per_byte * tile_bytes; }
  /// CPU time of the host for a tile; 0 if it does not matter.
  double cpu_time() const {
    if (!on_host) return 0;
    return fill() + sink_time + enqueue() + retire_time + kernel() + (maps ? 0 : ways() * copy());
  }
  double streams() const { return legacy ? 1 : std::min(lanes, kernels_at_once); }
  double in_flight_time() const { return enqueue() + ways() * copy() + kernel() + notice_time; }

  /// Tiles per second that streams allow in which all steps come one after the other.
  double in_turn() const { return single ? (legacy ? 1 : lanes) / (ways() * copy() + kernel()) : 1e12; }

  /// Tiles per second.
  double rate() const {
    double const round = fill() + in_flight_time() + sink_time;
    double const host = on_host ? cpus / cpu_time() : 1e12;
    return std::min({host, producers / fill(), sinks / sink_time, lanes / (enqueue() + retire_time), 1 / copy(),
                     streams() / kernel(), in_turn(), lanes * slots / in_flight_time(),
                     static_cast<double>(pool) / round});
  }
  double bytes_per_second() const { return rate() * tile_bytes; }

  RunFigures figures() const {
    RunFigures run;
    run.wall = 1;
    double const tiles = rate();
    run.tiles = static_cast<std::uint64_t>(std::llround(tiles));
    run.tile_bytes = tile_bytes;
    run.bytes_up = up ? tile_bytes : 0;
    run.gpu = gpu;
    run.bytes_down = down ? tile_bytes : 0;
    run.producers = producers;
    run.lanes = lanes;
    run.consumers = consumers;
    run.sinks = sinks;
    run.slots = slots;
    run.batch = batch;
    run.usual_batch = usual_batch;
    run.pool = pool;
    run.cpus = cpus;
    run.fill = tiles * fill();
    run.borrow_wait = producers - run.fill;
    run.sink = tiles * sink_time;
    run.enqueue = tiles * enqueue();
    run.lane_idle = lanes - tiles * (enqueue() + retire_time);
    run.in_flight = tiles * in_flight_time();
    run.overlap = overlap(tiles);
    run.single_stream = single;
    if (notices) run.notice = tiles * notice_time;
    if (single && !legacy && lanes == 1) run.overlap->busy = part(tiles / in_turn()), run.overlap->overlap = 0;
    if (legacy) {
      // Events of a shared stream are read so.
      run.shares = single ? SharedStream::all : SharedStream::stage;
      run.overlap->shared = single ? part(tiles / in_turn()) : run.overlap->computing;
      if (single) run.overlap->uploading = run.overlap->downloading = std::chrono::nanoseconds(0);
      run.overlap->computing = std::chrono::nanoseconds(0);
      run.overlap->overlap.reset();
      run.overlap->speed_of_light.reset();
    }
    run.cpu_time = cpu_time() > 0 ? std::optional(tiles * cpu_time()) : std::nullopt;
    run.copies_in_vain = on_host && !maps;
    return run;
  }

  /// Options as an Advice gives them: "--slots 8 --tiles 25".
  ModelRun with(std::string const& change) const {
    ModelRun changed = *this;
    if (change.find("reads_once") != std::string::npos) changed.maps = true;
    std::istringstream words(change);
    for (std::string word, value; words >> word;) {
      if (word.rfind("--", 0) != 0) continue;
      words >> value;
      if (word == "--producers") changed.producers = static_cast<unsigned>(std::stoul(value));
      if (word == "--lanes") changed.lanes = static_cast<unsigned>(std::stoul(value));
      if (word == "--consumers") changed.consumers = changed.sinks = static_cast<unsigned>(std::stoul(value));
      if (word == "--slots") changed.slots = static_cast<unsigned>(std::stoul(value));
      if (word == "--batch") changed.batch = static_cast<unsigned>(std::stoul(value));
      if (word == "--tiles") changed.pool = std::stoull(value);
      if (word == "--tile") changed.tile_bytes = static_cast<double>(parse_size(value));
      if (word == "--streams") changed.legacy = false;
      if (word == "--shape") changed.single = false;
      if (word == "--signal") changed.notice_time = notice_time / 2;
    }
    return changed;
  }

 private:
  static std::chrono::nanoseconds part(double share) {
    return std::chrono::nanoseconds(std::llround(std::min(share, 1.0) * 1e9));
  }
  Overlap overlap(double tiles) const {
    double const copying = tiles * copy(), there = up ? copying : 0, back = down ? copying : 0,
                 computing = std::min(1.0, tiles * kernel() / streams());
    Overlap seen;
    seen.uploading = part(there);
    seen.downloading = part(back);
    seen.computing = part(computing);
    // Copies and kernels are taken to know nothing of each other.
    double const busy = 1 - (1 - std::min(there, 1.0)) * (1 - std::min(back, 1.0)) * (1 - computing);
    seen.busy = part(busy);
    seen.window = part(1);
    double const most = std::max(copying, computing);
    seen.speed_of_light = most;
    if (there + back + computing > most)
      seen.overlap = (there + back + computing - busy) / (there + back + computing - most);
    return seen;
  }
};

}  // namespace penstock
