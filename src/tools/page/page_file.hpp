// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "penstock/machine/output_file.hpp"

namespace penstock::cli {

/// Writes a page of results, which are as docs/results.md has them.
///
/// Throws: as OutputFile::write.
void write_page(OutputFile& file, std::string const& results, std::string const& title);

}  // namespace penstock::cli
