// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

// What is said of workers, and where their lines go if nothing else is wanted.
//
// Threads: any.
namespace penstock {

/// "1.5 s".
std::string in_seconds(std::chrono::nanoseconds time);
/// "ended with code 3", or "was ended by signal 9 (Killed)" of -9.
std::string end_text(int end);
/// Writes all of it. Returns: false, if the system refuses.
///
/// Blocks: while the descriptor takes nothing.
bool write_all(int to, std::string_view text);
/// The lines, each behind "worker 2: ".
std::string behind_place(unsigned place, std::string_view lines);
/// Writes them so to standard error.
void complain_of(unsigned place, std::string_view lines);

}  // namespace penstock
