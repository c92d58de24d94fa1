// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tools/injection/watch_log.hpp"

/// Writes the log of this process. It is mapped memory of a file, so that what was written outlives a crash; each
/// thread has a chunk of its own to write to, so that a record takes no lock and no allocation. A full log counts on.
///
/// No exception leaves any of these, and none needs the C++ library.
namespace penstock::injection {

/// Makes the log. `to` is a folder, in which it is named after the process, or a file that is not there yet.
/// `most_bytes` is what it may become, at least two chunks.
///
/// Returns: false, if no log can be made; then nothing is written.
/// Threads: one, before all others.
bool open_log(char const* to, std::uint64_t most_bytes) noexcept;

/// Whether this process has a log; a child of it by fork has none.
bool log_is_open() noexcept;

/// Nanoseconds on the clock of the log.
std::uint64_t log_time() noexcept;

/// Writes the record, and fills in the thread. Once there is no room it is counted in the header's totals.
///
/// Threads: any.
/// Blocks:  once in 1023 records of a thread, for a system call that makes the file longer.
void write_record(watch_log::Record const& record) noexcept;

/// The same for a record of a kind that has a text, which may be cut.
void write_text(watch_log::Kind kind, std::uint32_t number, std::uint8_t part, char const* text) noexcept;

/// Counts a query that said "not yet": it becomes one record with those of the same call just before it.
void write_poll(watch_log::Record const& record) noexcept;

void note_refusal(watch_log::Refusal why, std::uint64_t code) noexcept;
void note_end() noexcept;

}  // namespace penstock::injection
