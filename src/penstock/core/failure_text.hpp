// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

namespace penstock {

/// A sentence that says of a failure what was wanted and what helps. Of an Error it is its own; of what the standard
/// library or the system throws ("std::bad_alloc", "Resource temporarily unavailable") one that they lack.
///
/// Threads: any.
std::string failure_text(std::exception const& failure);

}  // namespace penstock
