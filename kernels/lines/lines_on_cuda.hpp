// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "kernels/basic/cuda_bodies.hpp"
#include "penstock/device_memory.hpp"
#include "penstock/lines.hpp"

namespace penstock {

/// The GPU's bodies of these launchers, like those of cuda_bodies.hpp.
void sum_lines_prepare_cuda();
void sum_lines_cuda(std::span<DeviceSpan<std::byte const> const> inputs, LineFields const& fields,
                    DeviceSpan<std::byte const> literals, DeviceSpan<LineGroup> groups, DeviceSpan<LineReasons> reasons,
                    std::size_t most_blocks, void* stream);

/// Maximum number of inputs in one kernel.
inline constexpr std::size_t sum_lines_inputs = 32;
/// Bytes that one block of GPU threads searches for lines.
inline constexpr std::size_t sum_lines_block_bytes = 8192;

}  // namespace penstock
