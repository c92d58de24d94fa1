// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/command/arguments.hpp"
#include "tools/measure/axis.hpp"

namespace penstock::cli {

/// The options that name the axes of a sweep: `--threads`, `--tile` and so on, each a list.
struct AxisOptions {
  std::map<std::string, std::string> lists;  ///< By axis, as asked for.
  std::vector<std::string> devices{"auto"};  ///< Each as open_devices takes it; an axis if there are several.
  ProfileOption profile;

  /// `presets` are lists that are other than bench's where nothing is asked for.
  void add_to(CLI::App& command, std::map<std::string, std::string> const& presets = {});
  /// Adds `--device`, to be named once for each value, since a value may have commas itself.
  void add_devices_to(CLI::App& command);
  /// Lets an axis have this value alone.
  void set(std::string const& axis, std::string const& value);
  /// Adds `--profile`, which has a say on every axis that is not named.
  void add_profile_to(CLI::App& command);
  /// Throws: Error of kind bad_argument, if a list is not valid, or a combination of values is not possible.
  std::vector<measure::Axis> axes() const;
  /// Says on standard error what size_remark does of the tiles.
  void remark_on_sizes() const;
  /// The same as arguments of a command: "--threads", "1,2", and so on. Sizes are in bytes: they were remarked on.
  std::vector<std::string> arguments() const;
};

}  // namespace penstock::cli
