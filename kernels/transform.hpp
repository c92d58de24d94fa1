// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "penstock/device/build_flavour.hpp"
#include "penstock/device/stream.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

/// to[i] = from[i] + sqrt(sin^2 x + cos^2 x), where x is the float nearest to first_index + i.
///
/// The root is 1, so the user can tell whether the sum is right: both bodies are within 3e-7 of it, plus half a unit in
/// the last place of the sum.
///
/// Shape:   from and to are memory of the stream's device, as long as each other, and the same or disjoint.
/// Units:   first_index in elements; first_index + from.size() is at most 2^28.
/// Threads: any.
/// Blocks:  never; `to` is valid once `stream` has passed this call.
/// Throws:  Error, if the spans do not fit or the launch is refused. On the CPU device a launch may allocate.
void transform(DeviceSpan<float const> from, std::uint64_t first_index, DeviceSpan<float> to, StreamRef stream);

/// Loads the kernel, as blake3_prepare does.
void transform_prepare(StreamRef stream);

/// The largest difference between `to`, read by the host, and the same formula in double precision.
///
/// Threads: any. About 50 ns an element.
double transform_error(std::span<float const> from, std::uint64_t first_index, std::span<float const> to);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
