// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/blake3/blake3_wide.hpp"
#include "penstock/kernels.hpp"

namespace penstock {

/// The topmost node of one subtree, computed by the calling thread in host memory.
///
/// Shape:   input as in blake3_tile; `widths` is a front part of blake3_widths(): the widest does the bulk, the others
///          what is left over.
/// Threads: any.
Blake3Node blake3_subtree(std::span<std::byte const> input, std::uint64_t first_chunk,
                          std::span<Blake3Width const> widths = blake3_widths()) noexcept;

/// The node above several subtrees that lie side by side: all of one size, the last may be smaller.
///
/// Shape: values holds at least 2 x 32 bytes, and is used as scratch.
Blake3Node blake3_merge(std::span<std::byte> values, std::span<Blake3Width const> widths = blake3_widths()) noexcept;

}  // namespace penstock
