// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "engine/cuda/health.hpp"
#include "penstock/device_memory.hpp"
#include "penstock/error.hpp"

namespace penstock::cuda {

/// The Error that says that the device that is current now has no room for `bytes` bytes, with the remedy.
Error no_room_on_device(std::size_t bytes);

/// Memory of the device that is current now, aligned to at least 256 bytes. Empty for 0 bytes.
///
/// Blocks: it may wait for work that the device has.
/// Throws: Error of kind out_of_device_memory, which says what was asked for, what is free and what to reduce.
DeviceMemory allocate(Health& health, std::size_t bytes);

/// Pins host memory for all GPUs, whichever is current now or when it is unpinned, and maps it into their address
/// spaces. Nothing for an empty span.
///
/// Shape:   starts on a page; no page of it is pinned already.
/// Blocks:  30 ms a GiB that was touched before; it may wait for work that a device has.
/// Throws:  Error of kind out_of_pinned_memory, which says which limits to raise; bad_argument for a wrong shape.
Pinned pin(Health& health, std::span<std::byte> host);

/// The addresses at which the device that is current now sees pinned memory; empty for memory that is not pinned.
///
/// Blocks: never.
std::optional<std::span<std::byte>> mapped(Health& health, std::span<std::byte> host);

}  // namespace penstock::cuda
