// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `Error` and `ErrorKind`: what penstock throws.
#include "penstock/core/error.hpp"
