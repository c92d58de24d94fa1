// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "anyprogram/injection/watched_calls.hpp"

namespace penstock::injection {

/// The record of a driver call, from its parameters: its stream, the bytes that it touches, its flags. Output
/// parameters are read only if the call succeeded.
///
/// Shape: `parameters` is what CUPTI passes to the callback of that call.
watch_log::Record call_record(WatchedCall const& call, void const* parameters, bool succeeded) noexcept;

/// Fills in the bytes that a CUDA_MEMCPY2D or CUDA_MEMCPY3D touches.
void read_copy_2d(void const* copy, watch_log::Record& to) noexcept;
void read_copy_3d(void const* copy, watch_log::Record& to) noexcept;
/// Fills in the bytes of `height` rows of `width` bytes each, which begin `pitch` bytes apart.
void read_rows(std::uint64_t at, std::uint64_t pitch, std::uint64_t width, std::uint64_t height,
               watch_log::Record& to) noexcept;

/// Fills in the bytes that a CUDA_MEMSET_NODE_PARAMS touches.
void read_fill_node(void const* fill, watch_log::Record& to) noexcept;

}  // namespace penstock::injection
