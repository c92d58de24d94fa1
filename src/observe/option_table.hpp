// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "observe/option_row.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// All options that appear in texts, in the order in which results name them.
///
/// Threads: any.
std::span<OptionRow const> option_table() noexcept;
/// The option of that name; null if there is none.
///
/// Threads: any.
OptionRow const* find_option(std::string_view name) noexcept;
/// True if there is an option of that name, and its values are sizes.
///
/// Threads: any.
bool is_in_bytes(std::string_view name) noexcept;

}  // namespace penstock
