// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "penstock/stream.hpp"

namespace penstock {

/// to[i] = from[i] + rounds, by `rounds` multiplications and additions one after the other: the arithmetic for each
/// byte can be chosen.
///
/// A modelled GPU computes only the first `multiply_add_sample` elements: CPU threads cannot do the rest in the time
/// that it takes on the GPU.
///
/// Shape:   memory of the stream's device, both as long as each other, and the same or disjoint. Whole numbers whose
///          results are at most 2^24 are exact.
/// Threads: any.
/// Blocks:  never; `to` is valid once `stream` has passed this call.
/// Throws:  Error, if the spans do not fit or the launch is refused. On the CPU device a launch may allocate.
void multiply_add(DeviceSpan<float const> from, std::uint32_t rounds, DeviceSpan<float> to, StreamRef stream);

inline constexpr std::size_t multiply_add_sample = 1024;

/// Floating-point operations of a call.
constexpr double multiply_add_flops(std::uint32_t rounds, std::size_t count) {
  return 2.0 * rounds * static_cast<double>(count);
}

/// Loads the kernel, as blake3_prepare does.
void multiply_add_prepare(StreamRef stream);

}  // namespace penstock
