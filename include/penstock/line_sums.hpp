// SPDX-License-Identifier: Apache-2.0
// Lines of text, grouped by the number in one field, and the sums of the numbers in another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "penstock/stream.hpp"

#if defined(PENSTOCK_PER_THREAD) || defined(PENSTOCK_LEGACY) || !defined(PENSTOCK_NO_FLAVOUR)
#include "penstock/flavour.hpp"
#endif

namespace penstock {

/// How the fields of a line are found, and which of them count. Fields are numbered from 0.
struct LineFields {
  char separator = ' ';
  char quote = '"';          ///< Between two of them a separator is a part of the field. 0: there is none.
  char escape = 0;           ///< Between quotes, the character behind this one is no quote. 0: there is none.
  bool brackets = false;     ///< Outside of quotes, so is a separator between '[' and ']'.
  std::uint32_t key = 0;     ///< Holds the number of the line's group.
  std::uint32_t number = 1;  ///< Holds what is added up.
};
/// "%h %l %u [%t] \"%r\" %>s %b ...": the key is the status, the number is the bytes.
///
/// Source: Apache HTTP Server, Log Files; the format is called common, or combined.
inline constexpr LineFields access_log_fields{.escape = '\\', .brackets = true, .key = 5, .number = 6};

/// One group: the same on host and GPU.
struct LineGroup {
  std::uint64_t lines = 0;
  std::uint64_t sum = 0;

  friend bool operator==(LineGroup const&, LineGroup const&) = default;
};

/// So many groups there can be.
inline constexpr std::size_t most_line_groups = 4096;

#ifdef PENSTOCK_FLAVOUR
inline namespace PENSTOCK_FLAVOUR {

/// Adds the lines of each input to `groups`: group g has the lines whose key is g, and the last group all others. A
/// number is a field of decimal digits, which may be in quotes; a field that is no such number, or larger than 64 bits,
/// adds 0. The last line of an input may lack its "\n". A "\r" before the "\n" belongs to no field. On a GPU all inputs
/// are looked at by one kernel, or by one for each 32 of them.
///
/// With `literals`, which is Literals::table(), only lines count that have one of them; of the others nothing is added.
///
/// Shape:   memory of the stream's device, or mapped; `groups` has 2 to 4096 elements. `literals` is empty, or begins
/// at
///          a multiple of 8.
/// Threads: any; other calls may add to the same groups meanwhile.
/// Blocks:  never; `groups` is valid once `stream` has passed this call.
/// Throws:  Error, if the number of groups does not fit or the launch is refused. On the CPU device a launch may
///          allocate.
void sum_lines(std::span<DeviceSpan<std::byte const> const> inputs, LineFields const& fields,
               DeviceSpan<std::byte const> literals, DeviceSpan<LineGroup> groups, StreamRef stream,
               unsigned multiprocessors = 0);
/// The same of all lines of one input.
inline void sum_lines(DeviceSpan<std::byte const> input, LineFields const& fields, DeviceSpan<LineGroup> groups,
                      StreamRef stream, unsigned multiprocessors = 0) {
  sum_lines(std::span(&input, 1), fields, {}, groups, stream, multiprocessors);
}

/// Loads the kernel, as blake3_prepare does.
void sum_lines_prepare(StreamRef stream);

}  // namespace PENSTOCK_FLAVOUR
#endif

}  // namespace penstock
