// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// The page of section 1 on `command`, which is `program` itself or one of its commands, in the macros of man(7). It
/// has the text of --help, and the meanings of exit codes. Options that --help hides are left out.
std::string manual_page(CLI::App const& program, CLI::App const& command);

/// `text` for a page that shows it letter by letter: nothing in it is a request or an escape of roff.
std::string roff(std::string_view text);

/// Writes a page for the program and one for each of its commands, and a script that completes its command line, into
/// folders of `folder` that are named as in /usr/share: man/man1 and bash-completion/completions.
///
/// Throws: Error of kind bad_argument or system, if a file cannot be written; std::filesystem::filesystem_error, if a
/// folder cannot be made.
void write_manual(CLI::App& program, std::filesystem::path const& folder);

}  // namespace penstock::cli
