// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "penstock/kernels.hpp"
#include "penstock/stream.hpp"

namespace penstock {

/// into[i] = into[i] op from[i], of elements of `type`: one lane's state merged into another's.
///
/// Shape:   memory of the stream's device, both as long as each other and disjoint, aligned to an element, and whole
///          elements of it.
/// Threads: any.
/// Blocks:  never; `into` is valid once `stream` has passed this call.
/// Throws:  Error, if the spans do not fit or the launch is refused. On the CPU device a launch may allocate.
void combine(DeviceSpan<std::byte const> from, DeviceSpan<std::byte> into, ElementType type, ReduceOperation operation,
             StreamRef stream);

/// Loads the kernel, as blake3_prepare does.
void combine_prepare(ElementType type, ReduceOperation operation, StreamRef stream);

/// The same on memory of the host; it is done when the call returns.
///
/// Throws: Error, if the spans do not fit.
void combine_on_host(std::span<std::byte const> from, std::span<std::byte> into, ElementType type,
                     ReduceOperation operation);

/// Fills memory of the host with the value that changes nothing when it is combined: 0 for a sum, the greatest for a
/// minimum.
///
/// Throws: Error, if these are no whole elements.
void fill_with_identity(std::span<std::byte> host, ElementType type, ReduceOperation operation);

}  // namespace penstock
