// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// ": did you mean --lanes?", for a word that `command` knows no option or command by; empty if nothing is near.
std::string suggestion_for(std::string const& word, CLI::App const& command);

/// A sentence, without the full stop, on what is wrong with a command line that CLI11 refused with `error`, and what to
/// write instead. `command` is the one that the line names.
std::string misuse_text(CLI::ParseError const& error, CLI::App const& command);

}  // namespace penstock::cli
