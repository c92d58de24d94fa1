// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/device.hpp"
#include "penstock/flavour.hpp"
#include "programs/measure/figures.hpp"
#include "programs/measure/judged_run.hpp"
#include "programs/measure/trial.hpp"

namespace penstock::measure {

struct SweepOptions {
  /// Their range contains the median of as many others 97 times in 100: docs/decisions/measuring.md.
  static constexpr unsigned usual_repeats = 9;
  /// Also that of tune, whose other settings may reach half of what the defaults do. So what it found shows in bench.
  static constexpr double usual_load = 0.5;

  TrialOptions trial = {};
  unsigned least_repeats = usual_repeats;
  unsigned most_repeats = 13;
  double enough =
      0.05;  ///< A point whose throughput varies by no more than this from its median needs no more repeats.
  double load = usual_load;  ///< Load at which latency is taken, as a part of the throughput; 0 for no latency.
  bool ceilings = true;      ///< The parts are measured alone, once in each of the first rounds; the greatest counts.
  unsigned rounds_of_ceilings = 3;
  bool digests = false;  ///< One more run of each point is of the whole input, and its results are compared.
  bool judged = true;    ///< One more run of each point is traced, for the verdict.
  std::size_t room = JudgedRunOptions{}.room;  ///< Passages that its recorder has room for.
  unsigned cpus = 0;                           ///< CPUs that this process may use, for the verdict; 0 if unknown.
  unsigned order = 1;                          ///< Number of the order of points within each round: another number,
                                               ///< another order.
};

/// Progress of a sweep, for a bar.
struct SweepProgress {
  std::size_t done = 0;   ///< Runs.
  std::size_t total = 0;  ///< Runs, as far as known: points that vary need more.
  std::size_t point = 0;  ///< Index of the current point in the given order.
};

/// Groups of devices by the name in a Setting. If there is only one group its name is not used.
using DevicesByName = std::map<std::string, DeviceGroup>;
/// The devices that the setting names, or the only ones.
///
/// Shape: one group, or one of that name.
inline DeviceGroup const& devices_of(DevicesByName const& devices, Setting const& setting) {
  return devices.size() == 1 ? devices.begin()->second : devices.at(setting.device);
}

inline namespace PENSTOCK_FLAVOUR {

/// Measures all points, round after round, so that drifts affect all of them alike: in each round every point runs
/// once, in an order that is another each time.
///
/// A point that fails has its reason in `error` and is left out of later rounds; if a device is lost all the rest are.
/// A point also fails if its results have another digest than those of most points with the same values of the job's
/// options. Failures of additional measurements are in its remarks. Ends early if `stop` is requested, with the results
/// so far.
///
/// Blocks: until done.
std::vector<PointResult> sweep(DeviceGroup const& devices, std::vector<Point> points, SweepOptions const& options,
                               std::stop_token const& stop,
                               std::function<void(SweepProgress const&)> const& progress = {});
/// Sweeps so, each point on the devices that it names. Continues with the results so far: points with an error stay as
/// they are.
///
/// Throws: Error of kind bad_argument, if a point names other devices.
std::vector<PointResult> sweep(DevicesByName const& devices, std::vector<PointResult> begun,
                               SweepOptions const& options, std::stop_token const& stop,
                               std::function<void(SweepProgress const&)> const& progress = {});

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
