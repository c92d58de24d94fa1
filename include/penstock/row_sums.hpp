// SPDX-License-Identifier: Apache-2.0
// Sums of the rows of a tile that are present.
#pragma once

#include <cstddef>
#include <cstdint>

#include "penstock/stream.hpp"

#if defined(PENSTOCK_PER_THREAD) || defined(PENSTOCK_LEGACY) || !defined(PENSTOCK_NO_FLAVOUR)
#include "penstock/flavour.hpp"
#endif

namespace penstock {

#ifdef PENSTOCK_FLAVOUR
inline namespace PENSTOCK_FLAVOUR {

/// Computes sums[j] as the sum of word j of all rows that are present: row k, if bit k % 32 of mask[k / 32] is set.
/// Other rows are not read.
///
/// Shape:   memory of the stream's device, or mapped. A row has as many words as there are sums; `rows` has whole
///          rows, one behind the other; `mask` has a bit for each, or more.
/// Threads: any.
/// Blocks:  never; `sums` is valid once `stream` has passed this call.
/// Throws:  Error, if the spans do not fit or the launch is refused. On the CPU device a launch may allocate.
void sum_present_rows(DeviceSpan<std::uint32_t const> rows, DeviceSpan<std::uint32_t const> mask,
                      DeviceSpan<std::uint64_t> sums, StreamRef stream);

/// Loads the kernel, as blake3_prepare does.
void sum_present_rows_prepare(StreamRef stream);

}  // namespace PENSTOCK_FLAVOUR
#endif

}  // namespace penstock
