// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "anyprogram/injection/watch_log.hpp"

/// Writes the log of this process. The log is a mapped file, so that records survive a crash. Each thread writes to a
/// chunk of its own, so that a record takes no lock and no allocation. When the log is full, records are counted.
///
/// No exception leaves any of these functions, and none needs the C++ library.
namespace penstock::injection {

/// Makes the log. `to` is a folder, in which the log is named after the process, or a file that does not exist yet.
/// `longest` is the greatest length of the log, at least `watch_log::least_bytes`.
///
/// Threads: one, before all others.
/// Returns: 0, or why no log can be made, as errno says it: then nothing is written. EFBIG means that the log, or a
/// file
///          of this process, may not be long enough.
int open_log(char const* to, std::uint64_t longest) noexcept;

/// Notes in the file at `path`, which has the size of `watch_log::Notes`, that this process could make no log.
void note_no_log(char const* path, int problem) noexcept;

/// True if this process has a log; a child of it by fork has none.
bool log_is_open() noexcept;

/// Nanoseconds on the clock of the log.
std::uint64_t log_time() noexcept;

/// Writes the record, with the number of the calling thread. If the log is full, it counts the record in the totals of
/// the header.
///
/// Threads: any.
/// Blocks:  at the first record of each chunk, for system calls that make the file longer.
void write_record(watch_log::Record const& record) noexcept;

/// Writes a record of a kind that has a text. A longer text is cut.
void write_text(watch_log::Kind kind, std::uint32_t number, std::uint8_t part, char const* text) noexcept;

/// Writes a query that returned "not yet". Equal queries of a thread, one directly after the other, are one record.
void write_poll(watch_log::Record const& record) noexcept;

void note_refusal(watch_log::Refusal why, std::uint64_t code) noexcept;
void note_end() noexcept;

}  // namespace penstock::injection
