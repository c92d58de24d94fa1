// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/calls.hpp"

#include "engine/cpu/cpu_world.hpp"

namespace penstock::cpu {

/// A device to be told what to do wrong, and four callbacks.
struct FaultyDevice : CpuWorld {
  support::Calls calls;
  support::NotedCallback first{calls, 1}, second{calls, 2}, third{calls, 3}, fourth{calls, 4};
};

}  // namespace penstock::cpu
