// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "penstock/device/flavour.hpp"
#include "tools/command/trace_file.hpp"
#include "tools/measure/axis_options.hpp"

namespace penstock::cli {

/// What `bench` and `compare` are both asked: which points, on what, for how long, and where the results go.
struct SweepArguments {
  AxisOptions axes;
  std::string file;             ///< That tiles are filled from.
  unsigned milliseconds = 200;  ///< That count of each run.
  bool json = false;
  bool csv = false;
  std::string html;          ///< Where a page of the results goes; empty for nowhere.
  std::string command_line;  ///< As the user wrote it, for the results.

  /// `presets` are lists that are other than bench's where nothing is asked for.
  void add_to(CLI::App& command, std::map<std::string, std::string> const& presets = {});
  /// The command that measures each point of `points` once, in its own process, and nothing beside it, and says as JSON
  /// what they came to; `order` as SweepOptions has it.
  std::vector<std::string> one_round(std::string const& program, AxisOptions const& points, unsigned order) const;
  /// The command that measures those of `points` that `only` numbers once, with latency, ceilings and verdict.
  std::vector<std::string> judged_round(std::string const& program, AxisOptions const& points,
                                        std::span<std::size_t const> only) const;
  /// Page and trace, "--html" and "--trace".
  ///
  /// Blocks: as FilesToWrite.
  /// Throws: likewise; and as TraceArguments::check.
  FilesToWrite files_to_write(TraceArguments const& trace, std::stop_token const& stop) const;
  /// Says on standard error if the profile, if there is one, was made for another machine, device or (if it matters)
  /// flavour. A process of its own looks, since a command that measures in other processes opens no device meanwhile.
  void warn_of_foreign_profile(std::optional<Flavour> flavour, std::stop_token const& stop) const;

 private:
  /// What both have.
  std::vector<std::string> round(std::string const& program, AxisOptions const& points) const;
};

}  // namespace penstock::cli
