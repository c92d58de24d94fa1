// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "penstock/device/build_flavour.hpp"
#include "penstock/device/stream.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

/// Adds to counts[v] how many bytes of `input` have the value v: a histogram that grows tile by tile.
///
/// Shape:   memory of the stream's device; `counts` has 256 entries and is disjoint from `input`.
/// Threads: any.
/// Blocks:  never; `counts` is valid once `stream` has passed this call.
/// Throws:  Error, if there are not 256 counts or the launch is refused. On the CPU device a launch may allocate.
void count_bytes(DeviceSpan<std::byte const> input, DeviceSpan<std::uint64_t> counts, StreamRef stream);

/// Loads the kernel, as blake3_prepare does.
void count_bytes_prepare(StreamRef stream);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
