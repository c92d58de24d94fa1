// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/egress/arrow.hpp"

namespace penstock {

/// Place of a batch in a file.
///
/// Units: bytes.
struct ArrowBlock {
  std::int64_t at = 0;
  std::int32_t head = 0;  ///< Size of its message's head, in front of the body.
  std::int64_t body = 0;
};

/// The buffers of a column in the order in which a message has them.
///
/// Shape: two, or three with offsets; the first is empty if all rows have a value.
std::vector<std::span<std::byte const>> buffers_of(ArrowColumn const& column);

/// The beginning of a file: its mark and the message with the schema. A multiple of 64 bytes.
///
/// Threads: any.
std::vector<std::byte> arrow_beginning(std::span<ArrowField const> fields);

/// A batch as a message with its body. A multiple of 64 bytes; `block.at` is not filled in.
///
/// Threads: any.
std::vector<std::byte> arrow_message(ArrowBatch const& batch, ArrowBlock& block);

/// The end of a file.
///
/// Threads: any.
std::vector<std::byte> arrow_end(std::span<ArrowField const> fields, std::span<ArrowBlock const> blocks);

}  // namespace penstock
