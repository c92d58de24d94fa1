// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "penstock/error.hpp"

namespace penstock {

/// Throws: Error of kind bad_argument with that sentence, unless it fits.
inline void expect_option(bool fits, std::string const& otherwise) {
  if (!fits) throw Error(ErrorKind::bad_argument, otherwise);
}

}  // namespace penstock
