// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/tile.hpp"

namespace penstock {
struct Lane {};
}  // namespace penstock
