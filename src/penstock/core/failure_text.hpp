// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <system_error>

#include "penstock/core/error.hpp"

namespace penstock {

/// A sentence that says of a failure what was wanted and what helps. Of an Error it is its own; of what the standard
/// library or the system throws ("std::bad_alloc", "Resource temporarily unavailable") one that they lack.
///
/// Threads: any.
std::string failure_text(std::exception const& failure);

/// The Error to throw if `what` could not be opened because the process has no descriptors or no memory left; empty for
/// any other `problem`.
///
/// Threads: any.
std::optional<Error> shortage(std::string const& what, std::error_code problem);

}  // namespace penstock
