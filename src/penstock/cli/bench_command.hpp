// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include <CLI/CLI.hpp>

#include "penstock/cli/bench_output.hpp"
#include "penstock/cli/exit_code.hpp"
#include "penstock/cli/sweep_arguments.hpp"
#include "penstock/cli/trace_file.hpp"
#include "penstock/device/build_flavour.hpp"
#include "penstock/measure/sweep.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// `penstock bench`: pipelines over named axes, and what each of them comes to.
struct BenchCommand {
  SweepArguments sweep;
  unsigned repeats = measure::SweepOptions{}.least_repeats;
  double load = measure::SweepOptions{}.load;
  bool no_ceilings = false;
  bool no_verdict = false;
  TraceArguments trace;  ///< Of the fastest point.
  bool no_trace_cost = false;

  void add_to(CLI::App& command);
  /// Blocks: some tenths of a second for each point and repeat.
  /// Throws: Error, if there is no such device or value, or the device fails.
  ExitCode run() const;

 private:
  void write_trace_of(BenchFacts const& facts, std::span<measure::Axis const> axes,
                      std::span<measure::PointResult const> results, Device& on, measure::TrialOptions const& trial,
                      std::stop_token const& stop) const;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
