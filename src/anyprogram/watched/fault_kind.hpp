// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace penstock::cli {

/// Reasons why a program's work does not run at once. Those that cost the same are listed in this order.
enum class FaultKind : std::uint8_t {
  pageable,     ///< Asynchronous copies from or to memory that is not pinned.
  one_stream,   ///< All work in one stream.
  legacy,       ///< Work in the legacy default stream, beside that of other streams.
  host_blocks,  ///< A thread that waits for the device again and again, while no other stream has work.
  slow_calls,   ///< Allocation, pinning and loading, while nothing ran.
  host_late,    ///< Nothing ran, because no thread had asked for anything.
  queued,       ///< Nothing ran, though work was asked for.
};

/// All of them, in this order.
inline constexpr std::array all_fault_kinds{FaultKind::pageable,    FaultKind::one_stream, FaultKind::legacy,
                                            FaultKind::host_blocks, FaultKind::slow_calls, FaultKind::host_late,
                                            FaultKind::queued};

/// "pageable", "one_stream" and so on.
std::string_view fault_name(FaultKind kind);
/// A description of the fault in a few words, and advice.
std::string_view fault_words(FaultKind kind);
std::string_view fault_advice(FaultKind kind);

}  // namespace penstock::cli
