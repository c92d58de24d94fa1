// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/injection/watched_calls.hpp"

namespace penstock::injection {

/// What a call of the driver did, by its parameters: its stream, which bytes it touches, how it is flagged. Parameters
/// through which the driver gives a result are read only of a call that succeeded.
///
/// Shape: `parameters` as CUPTI gives them to the callback of that call.
watch_log::Record call_record(WatchedCall const& call, void const* parameters, bool succeeded) noexcept;

/// Fills in the bytes of a CUDA_MEMCPY2D or CUDA_MEMCPY3D.
void read_copy_2d(void const* copy, watch_log::Record& to) noexcept;
void read_copy_3d(void const* copy, watch_log::Record& to) noexcept;
/// Fills in the bytes of rows of `width` bytes, `pitch` bytes apart.
void read_rows(std::uint64_t at, std::uint64_t pitch, std::uint64_t width, std::uint64_t height,
               watch_log::Record& to) noexcept;

}  // namespace penstock::injection
