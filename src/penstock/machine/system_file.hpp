// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace penstock {

/// All of one of the kernel's small text files, without the white space at its end; nothing if it cannot be read.
///
/// Threads: any.
/// Blocks:  as long as the kernel needs to write it, usually microseconds.
std::optional<std::string> read_system_file(std::filesystem::path const& path);

/// The whole number at the start of `text`, after blanks; nothing if there is none or it is too large.
std::optional<std::int64_t> leading_number(std::string_view text);

}  // namespace penstock
