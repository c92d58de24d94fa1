// SPDX-License-Identifier: Apache-2.0
#pragma once

/// For `.cu` files; it needs the CUDA toolkit.
#include <cuda_runtime_api.h>

#include "penstock/devices.hpp"

namespace penstock {

/// The CUDA stream of a GPU, for launches and libraries that take one.
///
/// Threads: as the stream; the handle of per-thread default streams means another stream on each thread.
/// Throws:  Error of kind bad_argument, for a stream of the CPU device.
inline cudaStream_t cuda_stream(StreamRef stream) {
  if (stream.kind() != DeviceKind::cuda) {
    throw Error(
        ErrorKind::bad_argument,
        "This is a stream of the CPU device: ask StreamRef::kind first, and give the work to StreamRef::launch.");
  }
  return static_cast<cudaStream_t>(stream.native());
}

}  // namespace penstock
