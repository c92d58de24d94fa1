// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace penstock::cli {

/// Throws: Error of kind bad_argument, if no file can be written there: said before anything is measured for it.
void expect_writable(std::string const& path);

/// Writes a page of results, which are as docs/results.md has them.
///
/// Throws: Error of kind system, if the file takes less than all.
void write_page(std::string const& path, std::string const& results, std::string const& title);

}  // namespace penstock::cli
