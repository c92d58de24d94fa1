// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

#include "lane/holding.hpp"
#include "lane/lane_contract.hpp"

namespace penstock {

/// A lane of four slots whose device took 20 ms for tile 0, and is held at tile 1.
struct NappingLane : LaneContract {
  void TearDown() override {
    if (held.hold) held.hold->open();
    LaneContract::TearDown();
  }
  /// Opens it and puts so many tiles on the device.
  void open_with(std::uint64_t tiles_in_flight, std::chrono::nanoseconds spin) {
    open_lane(add_one_and_hold(held), {.flight = {.slots = 4}, .spin = spin});
    submit(0);
    held.await_came(1);
    auto const later = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    while (std::chrono::steady_clock::now() < later) std::this_thread::yield();
    held.hold->open();
    await_seen(1);
    for (std::uint64_t i = 1; i <= tiles_in_flight; ++i) submit(i);
    held.await_came(1 + tiles_in_flight);
  }
  std::uint64_t naps_at_the_end() {
    held.hold->open();
    lane().close();
    return lane().summary().naps;
  }

  Holding held{.at = {0, 1}};
};

}  // namespace penstock
