// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// A script that has bash complete the command line of `program`: its commands, the options of each, and the values of
/// options that have offered_values. For every other word bash offers file names. What --help hides is not offered.
std::string bash_completion(CLI::App& program);

}  // namespace penstock::cli
