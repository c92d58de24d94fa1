// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace penstock::simulation {

/// Ways in which turns end and the next fiber is chosen.
enum class Turns : std::uint8_t {
  calm,   ///< A turn ends only where a fiber waits or yields.
  even,   ///< A turn ends after some operations; any other fiber goes on.
  ranks,  ///< The fiber of the greatest rank goes on; after some operations it gets another rank.
  stops,  ///< Turns end as by `even`; now and then one fiber is stopped until others have done many operations.
  sites,  ///< A turn ends at some places in the code; any other fiber goes on.
};
/// Decisions of a seed for a run; every "one in so many" is 0 for never.
struct Schedule {
  Turns turns = Turns::calm;
  std::uint64_t seed = 0;
  std::uint64_t mean = 0;         ///< Operations of a turn.
  std::uint64_t sites = 0;        ///< One place in so many.
  std::uint64_t stops = 0;        ///< One turn in so many ends by a stop.
  unsigned stop_bits = 0;         ///< It lasts up to two to so many operations.
  std::uint64_t nanoseconds = 1;  ///< Length of an operation.
  std::uint64_t weak = 0;
  std::uint64_t early = 0;
  bool endless_waits = false;
};

/// Returns what this seed says, with nothing of the runs before.
Schedule schedule_of(std::uint64_t seed, bool endless_waits);
/// Returns a text for a person.
std::string describe(Schedule const& schedule);

}  // namespace penstock::simulation
