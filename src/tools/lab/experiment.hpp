// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/flavour.hpp"
#include "tools/lab/timeline.hpp"
#include "tools/lab/workbench.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {

/// One of several ways to do the same work, and how long it took.
///
/// Units: milliseconds.
struct Strategy {
  std::string name;
  double taught = 0;    ///< What texts say, at the scale of what was measured here.
  double possible = 0;  ///< If nothing but the order of the work held it up.
  double measured = 0;
  std::string bound;  ///< What it waited for: half a sentence.
};

/// What came out of an experiment.
struct Observation {
  std::vector<Interval> intervals;
  std::vector<Figure> figures;
  Verdict verdict;
  std::vector<Strategy> strategies = {};  ///< In the order in which they should become faster; mostly none.
};

/// What one run of an experiment is worth.
enum class Claim {
  must,  ///< Something always happens: one run that goes otherwise disproves it.
  may,   ///< Something can happen: one run in which it does proves it.
};

/// A question to a device about the order of its work.
struct Experiment {
  std::string_view name;         ///< As the command line has it.
  std::string_view expectation;  ///< What should happen, in one sentence.
  std::string_view why;          ///< Why that matters, in one sentence.
  Claim claim;
  /// Asks it.
  ///
  /// Blocks: until the device has answered.
  /// Throws: Error, if the device fails at it.
  Observation (*run)(Workbench& bench);
  std::size_t devices = 1;  ///< How many it takes.
};

/// Runs it on a workbench of its own; one that takes one device has the first. What may happen gets four more tries if
/// it does not, with kernels that are longer each time, up to 0.8 s: a host that was busy elsewhere when it should have
/// launched the next one is no disproof.
///
/// Blocks: until the device has answered.
/// Throws: as Experiment::run.
Observation observe(DeviceGroup const& devices, Experiment const& experiment, WorkbenchOptions options = {});

/// A kernel in the legacy default stream between kernels of two blocking streams.
Experiment legacy_between();
/// The same between kernels of two non-blocking streams.
Experiment legacy_beside();

/// Eight streams, with a short launch in the legacy default stream after each kernel.
Experiment stray_legacy();
/// The same with the launching thread's own default stream.
Experiment stray_per_thread();
/// Eight host threads that launch in the legacy default stream.
Experiment threads_legacy();
/// Eight host threads that launch each in its own default stream.
Experiment threads_per_thread();
/// Copies and kernels of several streams, issued stream by stream and step by step.
Experiment issue_order();
/// Copies to pinned and to pageable memory.
Experiment pageable_copy();
/// Two inputs on two streams, and a kernel on a third that needs both.
Experiment two_uploads();
/// A kernel of great priority behind many of little.
Experiment priority();
/// Ways to wait for an event, and what they cost.
Experiment event_waits();
/// An all-reduce of two devices beside what they compute, in four ways.
Experiment collective();
/// A library that uses the legacy default stream, called among threads that use their own.
Experiment library_joins();
/// The same among threads with non-blocking streams.
Experiment library_beside();

/// All there are, in the order in which they teach.
std::vector<Experiment> all_experiments();

/// So many kernels may have to run at once for an experiment to go as expected.
inline constexpr unsigned kernels_at_once = 12;

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
