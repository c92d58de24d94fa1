// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include "penstock/machine/output_file.hpp"

namespace penstock::cli {

/// A file that an option names.
struct NamedFile {
  std::string option;             ///< "--trace", say.
  std::string path;               ///< Empty if the option was not given; "-" for standard input.
  std::string rewritten_by = {};  ///< The option that may name it too, since it is read before that is written.
};

/// The files that a command is to write, found and held before it measures anything for them.
///
/// Threads: one at a time.
class FilesToWrite {
 public:
  /// Looks whether each of `written` can be written, and is none of `read`, no other of `written` and not where
  /// standard output or standard error goes, by what they are and not by their names. Nothing is made or changed.
  ///
  /// Blocks: as OutputFile.
  /// Throws: Error of kind bad_argument; as OutputFile.
  FilesToWrite(std::span<NamedFile const> read, std::span<NamedFile const> written, std::stop_token const& stop);

  /// The file of this option; null if it was not given.
  OutputFile* of(std::string_view option);

 private:
  void expect_apart(NamedFile const& file, OutputFile const& found) const;

  std::deque<std::pair<std::string, OutputFile>> files_;
};

/// Takes what may name a file: any text that is not empty.
CLI::Validator names_a_file();

}  // namespace penstock::cli
