// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "penstock/core/completion.hpp"

namespace penstock {

/// What the exception that is being handled means for a tile at `stage`.
///
/// An Error keeps its text and its kind, any other std::exception its text. `otherwise` is the kind of all that is no
/// Error. To be called in a catch block only.
///
/// Threads: any.
std::shared_ptr<Failure const> current_failure(std::string stage, ErrorKind otherwise);

}  // namespace penstock
