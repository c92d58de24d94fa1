// SPDX-License-Identifier: Apache-2.0
// What a kernel costs on a modelled GPU.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "penstock/device_memory.hpp"

namespace penstock {

/// What a kernel is for a modelled GPU (docs/models.md). It takes as long as the slowest of these takes there; all 0 is
/// a kernel that costs its launch only. Other devices do not look at it.
struct KernelCost {
  /// What it reads and writes; memory of the host's goes over the link.
  std::array<DeviceSpan<std::byte const>, 2> reads = {};
  DeviceSpan<std::byte const> writes = {};
  /// Floating-point operations; a kernel of few blocks does them with its share of the multiprocessors.
  double flops = 0;
  /// Bytes that it sends to other GPUs, while as many come: over the link between GPUs, or over that to the host if
  /// there is none.
  double peer_bytes = 0;
  std::chrono::nanoseconds time = {};  ///< Of one wave of blocks; a grid that does not fit at once takes several.
  std::uint32_t blocks = 0;            ///< Of the GPU's grid; 0: the whole GPU, so that no kernel runs beside it.
  std::uint32_t block_threads = 128;   ///< Of each.
  /// Where the modelled GPU notes when the kernel ran, in nanoseconds of Clock, before its stream goes on; or null.
  std::uint64_t* began = nullptr;
  std::uint64_t* ended = nullptr;
};

}  // namespace penstock
