// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace penstock {

/// What a pipeline is for, where its options leave something to it.
enum class Aim : std::uint8_t {
  throughput,  ///< Many tiles in a row, by threads that sleep where there is nothing to do.
  /// Few tiles, each wanted as soon as can be: one lane for each device, which never sleeps, no more than one of those
  /// who wait for a tile does, nor the consumer that waits for results. That is a core for each of them, all the time
  /// that a run lasts, and less throughput of small tiles (decisions/0032). Slots and tiles are few, so that those
  /// which come alone find them warm (decisions/0035).
  latency,
};

inline constexpr std::array all_aims{Aim::throughput, Aim::latency};

/// "throughput", "latency".
std::string_view to_string(Aim aim) noexcept;
/// The aim of that name.
///
/// Throws: Error of kind bad_argument, which names them all.
Aim parse_aim(std::string_view name);

}  // namespace penstock
