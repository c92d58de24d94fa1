// SPDX-License-Identifier: Apache-2.0
// The gain of work from running beside other work.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "course/timeline.hpp"
#include "penstock/device.hpp"

namespace penstock::lab {

/// The pieces of a run, among those of a workbench.
struct Run {
  std::size_t first = 0;
  std::size_t count = 0;

  std::vector<Interval> of(std::span<Interval const> all) const;
};

/// Intervals in which a piece that waited for its engine begins when that was free. Labels name the engine: "up",
/// "down", and all others for kernels that fill the device.
std::vector<Interval> without_waits(std::vector<Interval> intervals, int copy_engines);
/// Share of the time of all pieces in which others ran beside them: 0 if each ran alone, 2/3 if three ran at any time.
///
/// Shape: as of without_waits.
double overlapped(std::span<Interval const> intervals);
/// Moves each run in time, so that it begins a little after the one before it.
std::vector<Interval> one_run_behind_the_other(std::vector<std::vector<Interval>> runs);
/// Both from 0 on: first a run in one stream, in a row with that name and in rows of its engines, whose labels are the
/// numbers of its parts; then the other one as it is.
std::vector<Interval> below_one_stream(std::vector<Interval> in_one_stream, std::vector<Interval> other);

/// Measured times of some work, and those that its parts allow.
struct Gain {
  std::chrono::nanoseconds serial{};
  std::chrono::nanoseconds possible{};
  std::chrono::nanoseconds measured{};
  double overlapped = 0;
};

/// Expects of a GPU that it saves at least half of the possible gain, without unavoidable losses. Copies of the CPU
/// device compete with others for its CPUs, so there pieces need only run beside each other. The verdict names `what`.
Verdict saves(DeviceInfo const& info, std::string const& what, Gain const& gain);
/// Expects that none of `all` parts came back wrong; if one did, another try makes no difference.
Verdict came_back(std::size_t wrong, std::size_t all);

double milliseconds(std::chrono::nanoseconds time);

}  // namespace penstock::lab
