// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

#include "tools/command/exit_code.hpp"

namespace penstock::cli {

/// What is said of a failure, and the exit code that it ends with.
struct Complaint {
  std::string sentence;  ///< Of the failure, and of what helps.
  ExitCode code = exit_device;
};

/// A sentence on results of another process that cannot be read, and what to do; `problem` is what the parser threw.
std::string unreadable_results(std::exception const& problem);

/// Of an Error, its own sentence. Of what the standard library, the system or a parser throws, one that says what was
/// wanted and what to do.
Complaint complaint_about(std::exception const& failure);

}  // namespace penstock::cli
