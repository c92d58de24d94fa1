// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace penstock {

/// The aim of a pipeline: it decides what the options leave to the pipeline.
enum class Aim : std::uint8_t {
  throughput,  ///< Many tiles in a row, by threads that sleep where there is nothing to do.
  /// Few tiles, each wanted as soon as possible: one lane for each device. The lane never sleeps; one of the threads
  /// that wait for a tile never sleeps, nor does the consumer that waits for results. Each of them takes a core for as
  /// long as the run lasts, and small tiles have less throughput (decisions/0032). Slots and tiles are few, so that a
  /// tile that comes alone finds them warm (decisions/0035).
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
