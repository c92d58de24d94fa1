// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace penstock {

/// A descriptor of the file, which is made if it is not there. `flags` as of open, such as O_TRUNC.
///
/// Threads: any.
/// Blocks:  for a named pipe, until it has a reader.
/// Throws:  Error of kind bad_argument, if it cannot be written; of kind system, if no more files can be opened.
int open_to_write(std::string const& path, int flags);

/// Waits until the names in a file's folder are on the disk.
///
/// Threads: any.
void sync_folder_of(std::string const& path);

}  // namespace penstock
