// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/egress/arrow.hpp"

namespace penstock::fuzz {

/// The bytes of each row; empty for a row without a value.
using ColumnOfRows = std::vector<std::optional<std::string>>;

/// Number of bytes of each row of this type; 0, if that differs.
std::size_t bytes_of_row(ArrowField const& field);

/// Requires that `file` is in Arrow's IPC file format, to the byte, and holds these fields, and these columns of each
/// batch. It shares nothing with the writer.
///
/// Source: Apache Arrow, Arrow Columnar Format; Google, FlatBuffers internals.
void expect_file(std::string_view file, std::span<ArrowField const> fields,
                 std::span<std::vector<ColumnOfRows> const> batches);

}  // namespace penstock::fuzz
