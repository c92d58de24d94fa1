// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/settling.hpp"

#include "penstock/lane/graph_choice.hpp"
#include "penstock/lane/lone_ways.hpp"

namespace penstock::measure {

std::uint64_t settling_tiles(PipelineOptions const& made) noexcept {
  constexpr unsigned ways = 3;
  std::uint64_t a_lane = LoneWays::warm_up + ways * LoneWays::samples;
  if (made.graphs != Graphs::never) a_lane += GraphChoice::warm_up + 2 * GraphChoice::samples + made.slots;
  return made.lanes * a_lane;
}

}  // namespace penstock::measure
