// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "penstock/device.hpp"
#include "penstock/flavour.hpp"
#include "penstock/observe/recording.hpp"
#include "programs/bench/bench_output.hpp"
#include "programs/bench/rounds_apart.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/files_to_write.hpp"
#include "programs/command/progress.hpp"
#include "programs/measure/meter.hpp"
#include "programs/measure/sweep.hpp"
#include "programs/measure/sweep_arguments.hpp"
#include "programs/measure/trial.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// `penstock bench`: measures pipelines over named axes.
struct BenchCommand {
  SweepArguments sweep;
  unsigned repeats = measure::SweepOptions::usual_repeats;
  double load = measure::SweepOptions::usual_load;
  bool one_process = false;
  bool no_ceilings = false;
  bool no_verdict = false;
  bool no_digests = false;  ///< Skips the digests of a job of the user's.
  TraceArguments trace;     ///< The trace shows the fastest point.
  bool no_trace_cost = false;
  // These options are for the processes that it starts.
  std::vector<std::size_t> only;  ///< Points, from 0; all if there are none.
  unsigned order = 1;
  std::string begun;       ///< ProgressBegun::option of the process that started this one for a round.
  bool no_points = false;  ///< The process only says which device it would measure on.

  void add_to(CLI::App& command);
  /// Runs all repeats but the last in separate processes.
  ///
  /// Blocks: some tenths of a second for each point and repeat.
  /// Throws: Error, if there is no such device or value, or the device fails.
  ExitCode run(StandardOutput& output, Interrupt const& interrupt) const;

 private:
  /// Returns this command with producers that fill tiles, if their number is an axis and no filling is named: the
  /// throughput of producers that do nothing is that of one.
  BenchCommand filling() const;
  /// Returns this command with what suits models of GPUs, and says on standard error how long that takes.
  BenchCommand suited(std::span<measure::Point const> points, std::stop_token const& stop) const;
  ExitCode measure(FilesToWrite& files, StandardOutput& output, Interrupt const& interrupt);
  /// The points that are asked for.
  ///
  /// Throws: Error of kind bad_argument, if one of them is not there.
  std::vector<measure::Point> points_of(std::span<measure::Axis const> axes) const;
  /// True if this process measures all repeats.
  bool all_here() const noexcept;
  /// Results of all repeats but the last, each in another process; also raises the factor of a model's clock that was
  /// late in the first. With all repeats in this process one run apart does that, and no result is left.
  Apart apart(std::vector<measure::Point> const& points, measure::SweepOptions const& options,
              std::stop_token const& stop, RunProgress& progress);
  void write_trace_of(OutputFile& file, BenchFacts const& facts, std::span<measure::Axis const> axes,
                      std::span<measure::PointResult const> results, measure::DevicesByName const& devices,
                      measure::TrialOptions const& trial, std::stop_token const& stop) const;

  CLI::App const* command_ = nullptr;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
