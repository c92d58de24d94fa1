// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/core/descriptor.hpp"
#include "engine/machine/ending.hpp"

namespace penstock {

/// Opens the file, and makes it if it is not there. `flags` are those of open, such as O_TRUNC. Writes do not wait.
///
/// Threads: any.
/// Blocks:  for a named pipe, until it has a reader or the end is requested.
/// Throws:  Error of kind bad_argument, if it cannot be written; of kind system, if no more files can be opened, or the
///          end was requested before a pipe had a reader.
Descriptor open_to_write(std::string const& path, int flags, Ending const& ending);

/// Waits until the entries of a file's folder are on the disk.
///
/// Threads: any.
/// Returns: 0, or the errno of what failed.
int sync_folder_of(std::string const& path);

}  // namespace penstock
