// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "resources/child.hpp"

namespace penstock::sweep {

/// Ends that a program may have when the system refuses it something.
struct Allowed {
  std::set<int> codes = {0};  ///< All but 0 take a sentence on standard error.
  /// The lines of standard output, of which each is whole and the only ones; all of them with exit code 0. Empty: any.
  std::multiset<std::string> lines = {};
  bool any_if_not_well = false;  ///< With another exit code than 0 there may be any lines.
};

/// Returns faults of an end, each in a few words that do not depend on the run: "hang", "signal 11", "code 134", "torn
/// line", "foreign line", "missing line", "no sentence", "bare message: ...", and "bare result: ..." of a line of
/// standard output where any is allowed. Nothing, if the program was not even loaded.
std::vector<std::string> faults_of(Ended const& ended, Allowed const& allowed);

/// True if the line is no sentence of ours, but what a library or the system calls the error.
bool is_bare(std::string const& line);

}  // namespace penstock::sweep
