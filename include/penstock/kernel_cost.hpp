// SPDX-License-Identifier: Apache-2.0
// The cost of a kernel on a modelled GPU.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "penstock/device_memory.hpp"

namespace penstock {

/// Cost of a kernel on a modelled GPU (docs/models.md). The kernel takes as long as its slowest part; with all 0 it
/// costs its launch only. Other devices ignore it.
struct KernelCost {
  /// Memory that it reads and writes; host memory is accessed over the link.
  std::array<DeviceSpan<std::byte const>, 2> reads = {};
  DeviceSpan<std::byte const> writes = {};
  /// Floating-point operations; a kernel of few blocks does them with its share of the multiprocessors.
  double flops = 0;
  /// Bytes that it sends to other GPUs, while it receives as many: over the link between GPUs, or over the link to the
  /// host if there is none.
  double peer_bytes = 0;
  std::chrono::nanoseconds time = {};  ///< Time of one wave of blocks; a grid that does not fit at once takes several.
  std::uint32_t blocks = 0;            ///< Blocks of the grid; 0: the kernel fills the GPU, so no other runs beside it.
  std::uint32_t block_threads = 128;   ///< Threads per block.
  /// Places where the modelled GPU writes start and end of the kernel, in nanoseconds of Clock, before its stream
  /// continues; or null.
  std::uint64_t* began = nullptr;
  std::uint64_t* ended = nullptr;
};

}  // namespace penstock
