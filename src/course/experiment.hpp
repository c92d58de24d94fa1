// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "course/timeline.hpp"
#include "course/workbench.hpp"
#include "penstock/flavour.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {

/// Result of an experiment.
struct Observation {
  std::vector<Interval> intervals;
  std::vector<Figure> figures;
  Verdict verdict;
};

/// Strength of the evidence from one run of an experiment.
enum class Claim {
  must,  ///< Something always happens: one run with another result disproves it.
  may,   ///< Something can happen: one run in which it happens proves it.
};

/// A question to a device about the order of its work.
struct Experiment {
  std::string_view name;         ///< Name on the command line.
  std::string_view expectation;  ///< One sentence on what should happen.
  std::string_view why;          ///< One sentence on why that matters.
  Claim claim;
  /// Runs the experiment.
  ///
  /// Blocks: until the device has answered.
  /// Throws: Error, if the device fails at it.
  Observation (*run)(Workbench& bench);
  std::size_t devices = 1;  ///< Number of devices that it takes.
};

/// Runs it on a workbench of its own; one that takes one device has the first. An experiment on what may happen gets
/// four more tries if it does not happen, with kernels that are longer each time, up to 0.8 s: a host that was busy
/// elsewhere when it should have launched the next one does not disprove it. A verdict that is disproved gets none.
///
/// Blocks: until the device has answered.
/// Throws: as Experiment::run.
Observation observe(DeviceGroup const& devices, Experiment const& experiment, WorkbenchOptions options = {});

/// A kernel in the legacy default stream between kernels of two blocking streams.
Experiment legacy_between();
/// A kernel in the legacy default stream between kernels of two non-blocking streams.
Experiment legacy_beside();
/// A kernel in the legacy default stream of one device beside one in a blocking stream of another.
Experiment legacy_elsewhere();

/// Eight streams, with a short launch in the legacy default stream after each kernel.
Experiment stray_legacy();
/// Eight streams, with a short launch in the launching thread's own default stream after each kernel.
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
/// A kernel of high priority behind many of low priority.
Experiment priority();
/// Ways to wait: how long each keeps the host, and how much it waits for.
Experiment waits();
/// Launches with and without CUDA_LAUNCH_BLOCKING=1, as the process has it.
Experiment launch_blocking();
/// Ways to wait for an event, and their costs.
Experiment event_waits();
/// An all-reduce of two devices beside compute, in four ways.
Experiment collective();
/// A library that uses the legacy default stream, called among threads that use their own.
Experiment library_joins();
/// A library that uses the legacy default stream, called among threads with non-blocking streams.
Experiment library_beside();

/// Copy, kernel and copy of parts over one stream and over several, where kernels take longest.
Experiment streams();
/// Copy, kernel and copy of parts over one stream and over several, where copies take longest.
Experiment short_kernel();
/// Copy, kernel and copy of parts over one stream and over several, where copies take as long as kernels.
Experiment equal_steps();

/// The same work from pageable memory in one stream to graphs over three.
Experiment progression();

/// A host that fills one, two or three buffers cyclically.
Experiment buffers();
/// A wait inside a loop over streams, and one behind it.
Experiment blocking_loop();
/// A long callback, and what it delays.
Experiment slow_callback();

/// A + B in parts, by one stream, by two with events, and part by part by three.
Experiment vector_add();

/// The same work by calls, and captured as a graph.
Experiment graph_calls();

/// The host's clock and events, around the same kernels.
Experiment host_clock();
/// The time between events that the device has not passed yet.
Experiment elapsed_early();
/// The smallest time that events show.
Experiment event_resolution();
/// A stream that sums what another one produces, without an event between them and with one.
Experiment missing_wait();
/// Two buffers that the host fills again, before they were copied and after.
Experiment broken_buffers();
/// Memory of the device that two streams use alternately, without an event between them and with one.
Experiment reused_memory();

/// Memory that is allocated in a loop, by the device and in the order of a stream.
Experiment ordered_memory();

/// A kernel that fails, and the call that reports it.
Experiment late_error();
/// Pipelines for which more streams would change nothing: a kernel that fills the device,
Experiment no_help_kernel();
/// a full link,
Experiment no_help_link();
/// a slow source,
Experiment no_help_host();
/// tiles that are too small,
Experiment no_help_small();
/// and a stage that waits for the device.
Experiment no_help_barrier();

/// Copies of memory on each NUMA node of this machine.
Experiment numa();
/// Copies beside kernels that fill the device.
Experiment copy_beside_kernel();
/// A kernel with more and more arithmetic for each byte.
Experiment roofline();
/// A matrix product in half precision: its bounds, and its time.
Experiment matrix_product_time();
/// Rounds by a launch each, and by one whose blocks meet at a barrier.
Experiment grid_barrier();

/// All experiments, in an order suited to teaching.
std::vector<Experiment> all_experiments();

/// Maximum number of kernels that have to run at once for an experiment to go as expected.
inline constexpr unsigned kernels_at_once = 12;

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
