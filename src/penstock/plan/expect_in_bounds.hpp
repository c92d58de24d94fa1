// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/options.hpp"

namespace penstock {

/// Throws: Error of kind bad_argument for a number above its bound, a value that its enumeration does not have, or a
///         time below 0; the text names the member and what would do.
void expect_in_bounds(PipelineOptions const& options);

}  // namespace penstock
