// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "programs/measure/sweep_arguments.hpp"

namespace penstock::cli {

/// The axis that `compare` adds to those of a sweep.
inline constexpr char const* case_axis = "case";
inline constexpr char const* bare_case = "bare";
inline constexpr char const* used_case = "as used";

/// One way to run the points of a sweep.
struct SweepCase {
  std::string name;
  AxisOptions axes;
};

/// Cases that are compared: one polled stream for each thread, as in a loop written by hand, and the framework with its
/// defaults.
struct CaseArguments {
  std::string asked = "both";

  void add_to(CLI::App& command);
  /// The cases, each with its axes. Options that are named or in a profile are the same in both. The bare case sets all
  /// others: a lane for each producer, all work in the lane's default stream, copies, one tile at a time, polled.
  std::vector<SweepCase> cases(AxisOptions const& axes) const;

 private:
  CLI::App const* command_ = nullptr;
};

/// Adds the case as an axis to each point of these results, if there are several cases.
///
/// Throws: nlohmann::json::exception, if `results` is not what `penstock bench --json` prints.
std::string in_case(SweepCase const& which, bool several, std::string const& results);

/// Merges the results of the cases into those of one sweep, which has the case as an additional axis (docs/results.md).
///
/// Shape:  one result for each case, in the same order; at least one.
/// Throws: nlohmann::json::exception, if one is not what `penstock bench --json` prints.
std::string with_cases(std::vector<SweepCase> const& cases, std::vector<std::string> const& results);

}  // namespace penstock::cli
