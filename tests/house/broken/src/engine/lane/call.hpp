// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/lane/signal.hpp"

namespace penstock {
struct Call : Signal {};
}  // namespace penstock
