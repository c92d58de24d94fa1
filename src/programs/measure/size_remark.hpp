// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace penstock::cli {

/// A remark on `list`, the sizes of `option`, if one is in a unit of 1000 bytes where most mean 1024: "--tile 4kb is
/// 4000 bytes; 4KiB is 4096." If there are several it names the first; empty if there is none.
std::string size_remark(std::string const& option, std::string const& list);
/// Prints that on standard error.
void say_size_remark(std::string const& option, std::string const& list);

}  // namespace penstock::cli
