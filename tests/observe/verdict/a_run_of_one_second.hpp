// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

#include <gtest/gtest.h>

#include "observe/verdict/run_figures.hpp"

namespace penstock {

inline std::chrono::nanoseconds long_of(double time) {
  return std::chrono::nanoseconds(std::llround(time * 1e9));
}

/// A device that uploads, downloads and computes for so much of a second, `busy` of it with anything.
inline Overlap device_use(double up, double down, double kernel, double busy) {
  double const sum = up + down + kernel, most = std::max({up, down, kernel});
  Overlap use{.uploading = long_of(up),
              .downloading = long_of(down),
              .computing = long_of(kernel),
              .busy = long_of(busy),
              .window = long_of(1)};
  use.speed_of_light = most;
  if (sum > most) use.overlap = (sum - busy) / (sum - most);
  return use;
}

/// Returns the gain that is promised of a change whose bounds allow so many times as much.
constexpr double mostly(double most) {
  return 1 + 0.85 * (most - 1);
}

/// One second, in which 10,000 tiles of 1 MiB went up and down through two lanes, and no part had much to do: each test
/// makes one thing scarce.
struct ARunOfOneSecond : testing::Test {
  static constexpr double mebibyte = 1 << 20;
  RunFigures run;
  Ceilings alone;

  ARunOfOneSecond() {
    run.wall = 1;
    run.tiles = 10'000;
    run.bytes_up = run.bytes_down = run.tile_bytes = mebibyte;
    run.producers = 4;
    run.lanes = 2;
    run.slots = 4;
    run.pool = 20;
    run.cpus = 16;
    run.fill = 1.2;
    run.borrow_wait = 2.8;
    run.sink = 0.2;
    run.enqueue = 0.2;
    run.lane_idle = 1.7;
    run.overlap = device_use(0.3, 0.3, 0.3, 0.6);
    run.in_flight = 4;
  }
  /// Has eight lanes, whose kernels could go on at once.
  void compute_in_the_legacy_stream() {
    run.lanes = 8;
    run.lane_idle = 7.7;
    run.shares = SharedStream::stage;
    run.overlap = device_use(0.2, 0.2, 0, 0.99);
    run.overlap->shared = long_of(0.95);
    run.overlap->overlap.reset();
    run.overlap->speed_of_light.reset();
    alone.kernel = 50'000;
  }
  Verdict verdict() const { return judge(run, alone); }
};

}  // namespace penstock
