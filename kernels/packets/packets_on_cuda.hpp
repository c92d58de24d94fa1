// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "kernels/basic/cuda_bodies.hpp"
#include "penstock/device_memory.hpp"
#include "penstock/packets/packet_sums.hpp"

namespace penstock {

/// The GPU's bodies of these launchers, like those of cuda_bodies.hpp.
void sum_packets_prepare_cuda();
void sum_packets_cuda(std::span<PacketInput const> inputs, DeviceSpan<PacketTotals> totals,
                      DeviceSpan<PacketFlow> flows, std::size_t most_blocks, void* stream);

/// Maximum number of tiles in one kernel, and number of packets that one block of GPU threads looks at.
inline constexpr std::size_t sum_packets_inputs = 32;
inline constexpr std::size_t sum_packets_block_packets = 64;

}  // namespace penstock
