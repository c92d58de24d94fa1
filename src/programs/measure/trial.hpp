// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "penstock/device.hpp"
#include "penstock/flavour.hpp"
#include "penstock/observe/recording.hpp"
#include "penstock/report.hpp"
#include "programs/measure/figures.hpp"
#include "programs/measure/filler.hpp"
#include "programs/measure/setting.hpp"

namespace penstock::measure {

struct TrialOptions {
  std::chrono::nanoseconds warm_up = std::chrono::milliseconds(50);
  /// Additional warm-up of a closed loop that has not settled by then.
  std::chrono::nanoseconds settling{0};
  std::chrono::nanoseconds window = std::chrono::milliseconds(200);
  /// An open loop ends once a tile is later than this, if it is more than 0, and than the time in which a hundred tiles
  /// come: the pipeline does not keep up.
  std::chrono::nanoseconds most_late{0};
  /// Memory of the built-in job's Fill::memory; copies of these options share it.
  std::shared_ptr<FillMemory> memory = std::make_shared<FillMemory>();
  StepLog* recorder = nullptr;  ///< Is told where the tiles were; null for none.
  Ranges* ranges = nullptr;     ///< Show profilers what the threads are at; null for none.
  /// Used by run_whole: called when all is made and nothing has begun; its result is destroyed when the run is over.
  std::function<std::shared_ptr<void>(Pipeline const&, Source const&, JobWork const&)> beside = {};
  /// Used by run_whole: gets JobWork::lines_so_far. If it is empty, that is not called.
  std::function<void(std::string const&)> print = {};
  /// Used by run_input: called for each tile that came home, on the threads of its sink.
  std::function<void()> moved = {};
};

/// Result of one run of a setting, open loop.
struct LoadedTrial {
  Latency latency;
  PipelineOptions options;         ///< Options that the setting led to on this machine.
  std::uint64_t pinned_bytes = 0;  ///< Maximum that was held, by memory_peaks.
};

/// One run of a job, from the beginning of its input to its end.
struct JobRun {
  Report report;
  PipelineOptions options;                   ///< Options that the setting led to on this machine.
  std::uint64_t items = 0;                   ///< Count by Job::items.
  std::optional<std::uint64_t> digest = {};  ///< Digest by JobWork::digest; empty also if not all tiles were done.
  std::string results = {};                  ///< Text by JobWork::results.
};

inline namespace PENSTOCK_FLAVOUR {

/// Runs the work on its input, on a pipeline with the options of the setting, and asks for no results. Among `options`
/// it uses only `beside`, `print` and `moved`. A stop ends the run early.
///
/// Blocks: until the input has ended.
/// Throws: what the job throws. Failures of tiles are in the report.
JobRun run_input(Pipeline& pipeline, Setting const& setting, JobWork const& work, TrialOptions const& options,
                 std::stop_token const& stop);
/// Adds the results of the work: digest, text, what is left out, and remarks.
void conclude(JobRun& whole, JobWork const& work);
/// Runs the setting's job once, from the beginning of its input to its end. Among `options` it uses only `recorder`,
/// `ranges`, `memory`, `beside` and `print`. A stop ends the run early.
///
/// Blocks: until the input has ended.
/// Throws: as Pipeline; and what the job throws. Failures of tiles are in the report.
JobRun run_whole(DeviceGroup const& devices, Setting const& setting, TrialOptions const& options,
                 std::stop_token const& stop);
/// The digest of the results of such a run; empty if the job has no digest, or if `stop` was requested.
///
/// Throws: as run_whole; and Error, if not all tiles were done.
std::optional<std::uint64_t> digest_of(DeviceGroup const& devices, Setting const& setting, TrialOptions const& options,
                                       std::stop_token const& stop);

/// Runs the setting's pipeline, closed loop: producers fill tiles as fast as they get them.
///
/// Blocks: for warm-up and window, and what it takes to pin, start and end.
/// Throws: Error, if the pipeline cannot be made or a tile failed. Empty, if `stop` was requested.
std::optional<Trial> run_trial(DeviceGroup const& devices, Setting const& setting, TrialOptions const& options,
                               std::stop_token const& stop);

/// Runs it open loop: a tile is due each 1 / `tiles_per_second`, independently of earlier tiles, so that a stall counts
/// against all that waited for it. It uses only as many of the setting's producers as filling takes at that load. Tiles
/// that come before the pipeline has settled do not count: those of `warm_up`, and some hundred tiles a lane, if these
/// do not take seconds.
///
/// Throws: as run_trial; also Error of kind device_refused, if the pipeline does not keep up, or by expect_contents.
std::optional<LoadedTrial> run_loaded_trial(DeviceGroup const& devices, Setting const& setting, double tiles_per_second,
                                            TrialOptions const& options, std::stop_token const& stop);
/// Does the same, but returns only the latency.
std::optional<Latency> run_open_loop(DeviceGroup const& devices, Setting const& setting, double tiles_per_second,
                                     TrialOptions const& options, std::stop_token const& stop);

}  // namespace PENSTOCK_FLAVOUR

}  // namespace penstock::measure
