// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "penstock/error.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// A sentence that says of a failure what was wanted and what helps. For an Error it is the Error's own text. What the
/// standard library or the system throws ("std::bad_alloc", "Resource temporarily unavailable") has no such sentence,
/// and gets one here.
///
/// Threads: any.
std::string failure_text(std::exception const& failure);

/// The text for the `errno` of a system call, like "No such file or directory (os error 2)". For a limit on open files
/// the remedy follows.
///
/// Threads: any.
std::string system_problem(int number);

/// The remedy where the system starts no more threads, as the end of a sentence. The system gives the same reason
/// whether the threads are too many or their stacks find no memory.
///
/// Threads: any.
std::string remedy_for_threads();

/// The remedy where a file, a pipe or a device took less than all, for the `errno` of it; a part of a sentence.
///
/// Threads: any.
std::string remedy_for_writing(int problem);

/// The Error to throw if `what` could not be opened because the process has no descriptors or no memory left; empty for
/// any other `problem`.
///
/// Threads: any.
std::optional<Error> shortage(std::string const& what, std::error_code problem);

/// Returns what the exception that is being handled means for a tile at `stage`.
///
/// An Error keeps its text and its kind, any other std::exception its text. `otherwise` is the kind of all that is no
/// Error. If memory is short, for the exception or for its text, the failure is one that was made before: "Out of
/// memory.", with no name of a host stage but "host stage". Call this in a catch block only.
///
/// Threads: any.
std::shared_ptr<Failure const> current_failure(std::string_view stage, ErrorKind otherwise) noexcept;

}  // namespace penstock
