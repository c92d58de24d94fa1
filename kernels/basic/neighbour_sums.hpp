// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "penstock/device.hpp"
#include "penstock/stream.hpp"

namespace penstock {

/// to[i] = from[i - 1] + from[i + 1], modulo 2^32, where the first and the last are neighbours: each result needs two
/// of the round before, of other blocks too.
///
/// Shape:   memory of the stream's device, both as long as each other, and disjoint.
/// Threads: any.
/// Blocks:  never; `to` is valid once `stream` has passed this call.
/// Throws:  Error, if the spans do not fit or the launch is refused. On the CPU device a launch may allocate.
void neighbour_sums(DeviceSpan<std::uint32_t const> from, DeviceSpan<std::uint32_t> to, StreamRef stream);

/// Does `rounds` rounds of neighbour_sums in one launch, which go from `one` to `other` and back. All its blocks meet
/// at a barrier after each round, so all of them must be on the device at once: on a GPU it is a cooperative launch. On
/// the CPU device one thread does the work of all blocks, round by round.
///
/// Shape:   as above; the results are in `other` after an odd number of rounds, else in `one`. `blocks` is at least 1.
/// Threads, Blocks: as above.
/// Throws:  Error, as above; of kind bad_argument for more blocks than neighbour_sums_at_once says; of kind
///          unsupported, if the GPU has no cooperative launches.
void neighbour_sums_together(DeviceSpan<std::uint32_t> one, DeviceSpan<std::uint32_t> other, std::uint32_t rounds,
                             std::uint32_t blocks, DeviceInfo const& device, StreamRef stream);

/// Maximum number of blocks for neighbour_sums_together that the device holds at once; on a GPU, the calling thread's.
///
/// Threads: any; on a GPU, attached to it.
/// Throws:  Error, if the GPU refuses to say.
std::uint32_t neighbour_sums_at_once(DeviceInfo const& device);

/// Loads the kernels, as blake3_prepare does.
void neighbour_sums_prepare(StreamRef stream);

}  // namespace penstock
