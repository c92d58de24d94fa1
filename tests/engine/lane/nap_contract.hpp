// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include <unistd.h>

#include "engine/lane/holding.hpp"
#include "engine/lane/lane_contract.hpp"

namespace penstock {

/// A lane of four slots whose device took 100 ms for tile 0, with tile 1 behind it, and is held at tile 1.
struct NappingLane : LaneContract {
  void TearDown() override {
    first.reset();
    if (held.hold) held.hold->open();
    LaneContract::TearDown();
  }
  /// Opens it and puts so many tiles on the device, from tile 1 on.
  void open_with(std::uint64_t tiles_in_flight, std::chrono::nanoseconds spin) {
    auto const hold = [this](DeviceTile const& tile, StreamRef stream) {
      held.thread = gettid();
      if (tile.sequence == 0) first.emplace(kernels().hold(stream));
      if (tile.sequence == 1) held.hold.emplace(kernels().hold(stream));
      held.came.fetch_add(1);
    };
    open_lane(add_one(hold), {.flight = {.slots = 4}, .spin = spin});
    submit(0);
    submit(1);
    held.await_came(2);
    pass(std::chrono::milliseconds(100));
    first->open();
    await_seen(1);
    for (std::uint64_t i = 2; i <= tiles_in_flight; ++i) submit(i);
    held.await_came(1 + tiles_in_flight);
  }
  static void pass(std::chrono::milliseconds time) {
    auto const end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
  }
  /// Those until now.
  std::uint64_t naps_at_the_end() {
    lane().stop_taking();  // It takes no more naps either.
    held.hold->open();
    lane().close();
    return lane().summary().naps;
  }

  Holding held{.at = {}};
  std::optional<support::Hold> first;
};

}  // namespace penstock
