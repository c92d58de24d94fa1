// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/measure/sweep_arguments.hpp"

namespace penstock::cli {

/// The axis that `compare` has besides those of a sweep.
inline constexpr char const* case_axis = "case";
inline constexpr char const* bare_case = "bare";
inline constexpr char const* used_case = "as used";

/// One way to run the points of a sweep.
struct SweepCase {
  std::string name;
  AxisOptions axes;
};

/// Which cases are compared: a thread with one stream that it polls, as it is written by hand, and the framework as it
/// is used.
struct CaseArguments {
  std::string asked = "both";

  void add_to(CLI::App& command);
  /// The bare case has, of what is neither named nor in a profile, what a thread does that names no stream: all of it
  /// in its default stream, one lane for each, copies, one tile at a time, watched. The other is what `axes` say.
  std::vector<SweepCase> cases(AxisOptions const& axes) const;

 private:
  CLI::App const* command_ = nullptr;
};

/// The same results with the case as an axis of each point, if there are several.
///
/// Throws: nlohmann::json::exception, if these are none.
std::string in_case(SweepCase const& which, bool several, std::string const& results);

/// The results of a program, as docs/results.md has them, for each of the cases, as those of one sweep with an axis
/// more.
///
/// Shape:  as many of both, in the same order; at least one.
/// Throws: nlohmann::json::exception, if one is none.
std::string with_cases(std::vector<SweepCase> const& cases, std::vector<std::string> const& results);

}  // namespace penstock::cli
