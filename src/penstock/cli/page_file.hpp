// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace penstock::cli {

/// Writes a page of results, which are as docs/results.md has them.
///
/// Throws: Error of kind system, if the file takes less than all.
void write_page(std::string const& path, std::string const& results, std::string const& title);

}  // namespace penstock::cli
