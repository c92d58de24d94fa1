// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <optional>

#include "support/failures_to_order.hpp"
#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include "engine/flow/station.hpp"

namespace penstock {
namespace {

struct CountedWork final : StationWork {
  void take(TileRecord&, bool) noexcept override { ++taken; }
  unsigned taken = 0;
};

/// Returns 0 if a record whose call oneTBB had no memory for is served by the thread that waits.
int call_without_memory(std::size_t at_once) {
  oneapi::tbb::task_arena arena(1, 1);
  std::optional<CallGraph> graph;
  CountedWork work;
  std::optional<Station> station;
  arena.execute([&] {
    graph.emplace();
    station.emplace(*graph, at_once, work);
  });
  TileRecord record;
  test::refuse(test::Refusal::messages, 1);
  station->push(record);
  if (!test::refuse_nothing()) return 1;
  graph->wait_for_all();
  if (work.taken != 0) return 2;
  if (station->serve_refused() != 1 || work.taken != 1) return 3;
  return station->serve_refused() == 0 ? 0 : 4;
}

/// Seen to fail if a call is left out.
TEST(AStationWithoutMemory, ServesTheRecordWhoseCallWasRefused) {
  for (std::size_t const at_once : {Station::unlimited, std::size_t{1}, std::size_t{2}}) {
    EXPECT_EQ(test::end_of_child([at_once] { return call_without_memory(at_once); }), "") << at_once;
  }
}

}  // namespace
}  // namespace penstock
