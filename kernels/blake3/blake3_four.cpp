// SPDX-License-Identifier: Apache-2.0
#if defined(__GNUC__) && !defined(__clang__)
// Scheduling before register allocation is a tenth faster with 4 words (bench/kernels/blake3_bench).
#pragma GCC optimize("schedule-insns", "sched-pressure")
#endif

#include "kernels/blake3/blake3_side_by_side.hpp"
#include "kernels/blake3/blake3_wide.hpp"

namespace penstock {

constinit Blake3Width const blake3_four{
    .width = 4, .name = "4 x SSE4.1", .chunks = Blake3SideBySide<4>::chunks, .parents = Blake3SideBySide<4>::parents};

}  // namespace penstock
