// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace penstock {

/// Cuts off the bytes behind the last record of a regular file, if records end with `record_end`: a part of a record
/// that a killed program left. Returns their number. Other kinds of files are unchanged.
///
/// Threads: one at a time; while no other program writes to the file.
/// Throws:  Error of kind bad_argument, if it cannot be read; of kind system, if it cannot be cut.
std::uint64_t cut_torn_record(std::string const& path, std::string const& record_end);

}  // namespace penstock
