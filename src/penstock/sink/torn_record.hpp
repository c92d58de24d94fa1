// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace penstock {

/// Cuts off what is behind the last record of a regular file, if records end with these bytes: a part of a record that
/// a program left that was killed. Returns how many bytes that were. What is no regular file stays as it is.
///
/// Threads: one at a time; while no other program writes to the file.
/// Throws:  Error of kind bad_argument, if it cannot be read; of kind system, if it cannot be cut.
std::uint64_t cut_torn_record(std::string const& path, std::string const& record_end);

}  // namespace penstock
