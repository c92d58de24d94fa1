// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "tools/injection/profiler.hpp"

/// What the device did, as CUPTI hands it over, buffer by buffer.
namespace penstock::injection {

/// A buffer for CUPTI: one that it gave back, if there is one.
///
/// Threads: any.
void give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) noexcept;

/// Writes the activities of a buffer to the log, and keeps the buffer for the next time.
///
/// Threads: any; one at a time reads.
void read_buffer(Profiler const& profiler, Driver const& driver, void* context, std::uint32_t stream,
                 std::uint8_t* buffer, std::size_t valid) noexcept;

}  // namespace penstock::injection
