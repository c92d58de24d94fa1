// SPDX-License-Identifier: Apache-2.0
#if defined(__GNUC__) && !defined(__clang__)
// Scheduling before register allocation is a third faster with 8 words (bench/kernels/blake3_bench).
#pragma GCC optimize("schedule-insns", "sched-pressure")
#endif

#include "kernels/blake3/blake3_side_by_side.hpp"
#include "kernels/blake3/blake3_wide.hpp"

namespace penstock {

constinit Blake3Width const blake3_eight{
    .width = 8, .name = "8 x AVX2", .chunks = Blake3SideBySide<8>::chunks, .parents = Blake3SideBySide<8>::parents};

}  // namespace penstock
