// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/tile.hpp"

namespace penstock {
struct Lane {};
}  // namespace penstock
