// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <stop_token>
#include <string>

#include <CLI/CLI.hpp>

#include "penstock/flavour.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/figure_arguments.hpp"
#include "programs/command/files_to_write.hpp"
#include "programs/measure/sweep_arguments.hpp"
#include "programs/tune/tune.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// `penstock tune`: looks for the settings that are best for a job on this machine, and saves them as a profile.
struct TuneCommand {
  AxisOptions lists;
  std::string sought = "throughput";
  double load = measure::TuneOptions{}.load;  ///< Used for latency.
  bool load_named = false;
  std::string device = "auto";
  SlowerOption slower;
  double within = 60;  ///< Seconds.
  std::string memory;  ///< Memory that a setting may pin; empty for what is safe here.
  std::string save;    ///< File for the profile; empty for none.
  FigureArguments figures;
  ProfileOption profile;     ///< Another start for the search.
  TraceArguments trace;      ///< The trace shows the best.
  std::string command_line;  ///< Command line as the user wrote it, for the results.

  void add_to(CLI::App& command);
  /// Blocks: for `within` seconds or less.
  /// Throws: Error, if there is no such device or value, no setting works, or the device fails.
  ExitCode run(StandardOutput& output, Interrupt const& interrupt) const;

 private:
  /// The values of the profile by the axes of the job.
  std::map<std::string, std::string> profiled(Profile const& taken) const;
  bool for_latency() const;
  /// `wish`, for models with a factor that suits `defaults`, if none was named; and says on standard error which.
  std::string paced(std::string const& wish, measure::Setting const& defaults, std::stop_token const& stop) const;
  /// The factor of the probe, or a larger one on which a run of the defaults was not late.
  unsigned factor_for_defaults(std::string const& wish, measure::Setting const& defaults,
                               std::stop_token const& stop) const;
  /// Chooses the lists of axes that are not named, by what is sought.
  void choose_lists(CLI::App const& command);
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
