// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "penstock/device/build_flavour.hpp"
#include "penstock/device/stream.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

/// to[i] = one[i] + other[i]: a kernel that needs two inputs, which may have arrived on two streams.
///
/// Shape:   memory of the stream's device, all three as long as each other, and the same or disjoint.
/// Threads: any.
/// Blocks:  never; `to` is valid once `stream` has passed this call.
/// Throws:  Error, if the spans do not fit or the launch is refused. On the CPU device a launch may allocate.
void sum(DeviceSpan<float const> one, DeviceSpan<float const> other, DeviceSpan<float> to, StreamRef stream);

/// Loads the kernel, as blake3_prepare does.
void sum_prepare(StreamRef stream);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
