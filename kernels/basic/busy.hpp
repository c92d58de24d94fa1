// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "penstock/stream.hpp"

namespace penstock {

/// Start and end of a kernel, as its device noted them. A fresh stamp says that the kernel never ran.
///
/// Units: nanoseconds of a clock that all kernels of the device share.
struct Stamp {
  std::uint64_t start = ~std::uint64_t{0};  ///< Time when the first block started.
  std::uint64_t end = 0;                    ///< Time when the last block ended.

  bool ran() const noexcept { return start <= end; }
};

/// Computes nothing: each block stays until `duration` has passed since it started.
///
/// A block has 1024 threads on a GPU, so that few of them fill a multiprocessor. On the CPU device a block takes up a
/// compute thread but no CPU, so that more of them run at once than there are CPUs.
///
/// Shape:   stamp is memory of the stream's device, and holds a fresh Stamp.
/// Threads: any.
/// Blocks:  never; *stamp is valid once `stream` has passed this call.
/// Throws:  Error, if the launch is refused. On the CPU device a launch may allocate.
void busy(std::chrono::nanoseconds duration, std::uint32_t blocks, Stamp* stamp, StreamRef stream);

/// Loads the kernel, as blake3_prepare does.
void busy_prepare(StreamRef stream);

}  // namespace penstock
