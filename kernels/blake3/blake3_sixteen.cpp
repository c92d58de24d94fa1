// SPDX-License-Identifier: Apache-2.0
#include "kernels/blake3/blake3_side_by_side.hpp"
#include "kernels/blake3/blake3_wide.hpp"

namespace penstock {

constinit Blake3Width const blake3_sixteen{.width = 16,
                                           .name = "16 x AVX-512",
                                           .chunks = Blake3SideBySide<16>::chunks,
                                           .parents = Blake3SideBySide<16>::parents};

}  // namespace penstock
