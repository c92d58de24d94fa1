// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace penstock {

/// Bytes from a text like "4MiB", "64k" (1024-fold, as KiB), "1GB" (1000-fold) or "4096".
///
/// Threads: any.
/// Throws:  Error of kind bad_argument; the text shows what is accepted.
std::uint64_t parse_size(std::string_view text);

/// The number of a text that is nothing but decimal digits; empty for another text, and for a number above `most`.
///
/// Threads: any.
std::optional<std::uint64_t> whole_number_of(std::string_view text,
                                             std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) noexcept;

/// "4 MiB", "1.5 GiB", "100 B": in the largest unit of which there is one, to a tenth.
///
/// Threads: any.
std::string size_text(std::uint64_t bytes);

/// "1 tile", "2 tiles": of the singular.
std::string count_text(std::uint64_t count, std::string_view one);
/// "97 %", of 0.97.
std::string percent_text(double share);
/// "48.6 GB/s", "930 MB/s", "1.2 kB/s": units 1000-fold, as links are told.
std::string rate_text(double bytes_per_second);
/// "8.2 us", "130 ms", "4.0 s".
std::string seconds_text(double seconds);
/// "4MiB", as options take it: what `size_text` would round is in bytes.
std::string size_option(double bytes);
/// "1.07", "2.5", "16".
std::string factor_text(double factor);

}  // namespace penstock
