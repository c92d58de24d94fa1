// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// Gives a command the option `--config FILE`, whose value goes to `path`, which outlives the command.
void add_config_to(CLI::App& command, std::string& path);

/// Sets the options of a command that has been parsed to the values in its `--config` file, if that was named. Options
/// of the command line take precedence.
///
/// The file is TOML: `name = value` without the dashes, on top or in a table of the command's name. Tables of other
/// commands are ignored.
///
/// Throws: CLI::ParseError, if the file cannot be read, names what is no option, or has a value that is refused.
void apply_config(CLI::App& command);

}  // namespace penstock::cli
