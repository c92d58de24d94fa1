// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "penstock/tile.hpp"

namespace penstock {

/// What the exception that is being handled means for a tile at `stage`.
///
/// An Error keeps its text and its kind, any other std::exception its text. `otherwise` is the kind of all that is no
/// Error. If memory is short, for the exception or for its text, the failure is one that was made before: "Out of
/// memory.", with no name of a host stage but "host stage". Call this in a catch block only.
///
/// Threads: any.
std::shared_ptr<Failure const> current_failure(std::string_view stage, ErrorKind otherwise) noexcept;

}  // namespace penstock
