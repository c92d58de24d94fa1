// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

namespace penstock::cli {

/// A file that an option names.
struct NamedFile {
  std::string option;  ///< "--trace", say.
  std::string path;    ///< Empty if the option was not given; "-" for standard input.
};

/// Looks whether each of `written` can be written, and is none of `read` and no other of `written`, by what they are
/// and not by their names: said before anything is measured for them. Where there was no file, none is left.
///
/// Throws: Error of kind bad_argument.
void expect_apart(std::span<NamedFile const> read, std::span<NamedFile const> written);

}  // namespace penstock::cli
