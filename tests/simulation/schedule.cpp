// SPDX-License-Identifier: Apache-2.0
#include "simulation/schedule.hpp"

#include <array>
#include <cstddef>

#include "chaos/draw.hpp"

namespace penstock::simulation {

Schedule schedule_of(std::uint64_t seed, bool endless_waits) {
  chaos::Draw draw(seed);
  Schedule schedule{
      .turns = static_cast<Turns>(draw.between(1, 4)), .seed = draw.next(), .endless_waits = endless_waits};
  schedule.mean = draw.of_any_size(schedule.turns == Turns::ranks ? 12 : 8);
  schedule.sites = std::uint64_t{2} << draw.below(6);
  if (schedule.turns == Turns::stops) schedule.stops = draw.of_any_size(8);
  schedule.stop_bits = static_cast<unsigned>(draw.between(4, 15));
  schedule.nanoseconds = draw.of_any_size(7);
  schedule.weak = std::uint64_t{2} << draw.below(5);
  schedule.early = std::uint64_t{2} << draw.below(4);
  return schedule;
}

std::string describe(Schedule const& schedule) {
  constexpr std::array turns{"calm", "even", "ranks", "stops", "sites"};
  std::string text = std::string(turns[static_cast<std::size_t>(schedule.turns)]) + ", operations of " +
                     std::to_string(schedule.nanoseconds) + " ns";
  if (schedule.turns == Turns::sites) {
    text += ", a turn ends at 1 place in " + std::to_string(schedule.sites);
  } else {
    text += ", turns of about " + std::to_string(schedule.mean);
  }
  if (schedule.stops != 0) text += ", 1 turn in " + std::to_string(schedule.stops) + " ends by a stop";
  return text + (schedule.endless_waits ? ", waits without timeouts" : "");
}

}  // namespace penstock::simulation
