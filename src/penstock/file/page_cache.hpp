// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock {

/// True if at least half of these bytes of the file are in the page cache, or if the system does not say, as of
/// overlayfs.
///
/// Blocks: never; a microsecond.
bool in_page_cache(int descriptor, std::uint64_t offset, std::size_t bytes);

}  // namespace penstock
