// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "penstock/device/build_flavour.hpp"
#include "penstock/device/stream.hpp"
#include "penstock/kernels/blake3_node.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

/// Device memory that `blake3_tile` needs beside a tile of at most `largest_input` bytes.
///
/// Units: bytes.
std::size_t blake3_scratch_bytes(std::size_t largest_input) noexcept;

/// Loads the kernels, so that the first tile does not wait for that. Needs no data and launches nothing.
///
/// Blocks: perhaps until the device is idle: call it before the first tile.
/// Throws: Error of kind `unsupported` if `stream` is on a GPU and this build is without CUDA.
void blake3_prepare(StreamRef stream);

/// Writes the topmost Blake3Node of the subtree over `input` to `node`; Blake3Tree makes digests of them.
///
/// Shape:   input, node and scratch are memory of the stream's device, 16-byte aligned. A file's tiles have one size, a
///          power of two times 1024 bytes; only the last may be shorter. `node` is sizeof(Blake3Node) bytes.
/// Units:   first_chunk is the offset in the file of the tile's first byte / 1024.
/// Threads: any; scratch and node are for this call alone until `stream` has passed it.
/// Blocks:  never; node is valid once `stream` has passed this call.
/// Throws:  Error, if a span does not fit the above or the launch is refused. On the CPU device a launch may allocate.
void blake3_tile(DeviceSpan<std::byte const> input, std::uint64_t first_chunk, DeviceSpan<std::byte> node,
                 DeviceSpan<std::byte> scratch, StreamRef stream);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
