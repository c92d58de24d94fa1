// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "course/experiment.hpp"
#include "penstock/flavour.hpp"
#include "programs/command/arguments.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/figure_arguments.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// The device and flavour that experiments run on, for their output.
struct LabPlace {
  DeviceInfo device;
  std::string flavour;  ///< Meaning of "0" in this command itself: "per-thread" or "legacy".
};

/// One line with a line break, like all texts here.
std::string as_text(LabPlace const& place);
/// Purpose of an experiment.
///
/// Units: columns in characters.
std::string as_text(lab::Experiment const& experiment, std::size_t columns);
/// Purpose of an experiment, with the observation and its meaning.
std::string as_text(lab::Experiment const& experiment, lab::Observation const& seen, std::size_t columns);
/// Number of experiments that went as expected.
std::string summary_text(std::size_t as_expected, std::size_t all, std::size_t late = 0);

/// The experiment and its observation, in one object. Times are in nanoseconds.
std::string as_json(LabPlace const& place, lab::Experiment const& experiment, lab::Observation const& seen);

/// What a trace of experiments shows.
struct LabTrace {
  std::size_t pieces = 0;  ///< Pieces of work, each a bar.
  std::size_t rows = 0;    ///< Streams, threads and engines, of all experiments together.
};

/// Writes what experiments saw as a trace for Perfetto or Chrome: each experiment is a process by its name, which
/// begins at 0, and has a row for each stream and thread.
///
/// Throws: nothing of its own; whether all was written `out` knows.
LabTrace write_lab_trace(std::ostream& out, LabPlace const& place,
                         std::span<std::pair<std::string, lab::Observation> const> seen);

}  // namespace PENSTOCK_FLAVOUR
inline namespace PENSTOCK_FLAVOUR {

/// `penstock lab`: experiments on the order in which a device does its work, each with a verdict.
struct LabCommand {
  std::vector<std::string> names;
  std::string device = "auto";
  SlowerOption slower;
  bool list = false;
  bool source = false;  ///< Print programs, and run no experiment.
  FigureArguments figures;
  std::string trace;         ///< File for a trace of what was seen; empty for none.
  std::string command_line;  ///< Command line as the user wrote it, for the page.

  void add_to(CLI::App& command);
  /// Runs the experiments that were named, or all.
  ///
  /// Blocks: some tenths of a second for each.
  /// Throws: Error, if there is no such experiment or device, or the device fails.
  ExitCode run(StandardOutput& output, Interrupt const& interrupt) const;

 private:
  std::vector<lab::Experiment> chosen() const;
  ExitCode print_sources(StandardOutput& output) const;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
