// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// The text of --help: lines of at most 100 characters, and the exit codes at the end of each command's.
class HelpText final : public CLI::Formatter {
 public:
  /// `some_failed` says what exit code 1 means for a command besides an output that took nothing, which all have.
  /// `examples` are command lines, each with a line break; possibly none.
  explicit HelpText(std::string const& some_failed, std::string examples = {})
      : some_failed_(some_failed + (some_failed.empty() ? "" : ", or ") + "standard output took nothing"),
        examples_(std::move(examples)) {}

  /// The meaning of exit code 1 of a command whose help this class writes; that of any command for other ones.
  static std::string some_failed_of(CLI::App const& command);

  /// The examples of a command whose help this class writes; none for other ones.
  static std::string examples_of(CLI::App const& command);

  std::string make_help(CLI::App const* command, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_option(CLI::Option const* option, bool is_positional) const override;
  std::string make_subcommand(CLI::App const* command) const override;
  std::string make_footer(CLI::App const* command) const override;

 private:
  std::string const some_failed_;
  std::string const examples_;
};

/// Puts the options of a command that has many under headings: those of its pipeline, of devices, of measuring and of
/// its outputs, by their names. All others, and hidden ones, stay as they are.
void group_options(CLI::App& command);

/// Placeholder of an option's value: its type, without what validators add to it.
std::string value_name(CLI::Option const& option);
/// Sentences on the options that an option needs, and those that it does not go with, each with a space before it; in
/// order. Empty if there are none.
std::string with_others(CLI::Option const& option);

/// The one of `known` of which a typing error would make `word`; empty if none is near.
std::string nearest_to(std::string_view word, std::vector<std::string> const& known);

}  // namespace penstock::cli
