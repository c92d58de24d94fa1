// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "anyprogram/injection/profiler.hpp"

/// Activities of the device, which CUPTI delivers in buffers.
namespace penstock::injection {

/// Gives CUPTI a buffer: one that it returned before, if there is one. `size` is 0 if there is no memory.
///
/// Threads: any.
void give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) noexcept;

/// Writes the activities of a buffer to the log, and keeps the buffer for `give_buffer`.
///
/// Threads: any.
/// Blocks:  while another thread reads a buffer.
void read_buffer(Profiler const& profiler, Driver const& driver, void* context, std::uint32_t stream,
                 std::uint8_t* buffer, std::size_t valid) noexcept;

}  // namespace penstock::injection
