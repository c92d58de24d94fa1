// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock {

/// Bytes from a text like "4MiB", "64k" (1024-fold, as KiB), "1GB" (1000-fold) or "4096".
///
/// Threads: any.
/// Throws:  Error of kind bad_argument; the text shows what is accepted.
std::uint64_t parse_size(std::string_view text);

/// "4 MiB", "1.5 GiB", "100 B": in the largest unit of which there is one, to a tenth.
///
/// Threads: any.
std::string size_text(std::uint64_t bytes);

}  // namespace penstock
