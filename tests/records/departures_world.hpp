// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "records/departures.hpp"

namespace penstock {

using namespace std::chrono_literals;

/// Departures for two tiles under way, and packs of their own. All that leave come back.
struct TwoTilesUnderWay : testing::Test {
  static constexpr std::chrono::nanoseconds for_ever = 24h;

  struct Left {
    Pack* pack;
    Departure why;
    bool operator==(Left const&) const = default;
  };
  std::array<Pack, 8> packs;
  std::mutex mutex;
  std::vector<Left> left;
  Departures departures{{.hungry_below = 2, .linger = for_ever}, note()};

  Departures::Send note() {
    return [this](Pack& pack, Departure why) {
      std::scoped_lock const lock(mutex);
      left.push_back({&pack, why});
    };
  }
  /// Writes a record into the pack of the desk, or begins this one.
  static void write(Departures& to, Desk& desk, Pack& fresh) {
    auto const taken = to.take_up(desk);
    ASSERT_TRUE(taken);
    Pack& pack = *taken != nullptr ? **taken : fresh;
    pack.entries.push_back({});
    to.put_down(desk, &pack);
  }
  /// Blocks: until so many have left.
  void await_left(std::size_t count) {
    for (;; std::this_thread::yield()) {
      std::scoped_lock const lock(mutex);
      if (left.size() >= count) return;
    }
  }
  void TearDown() override {
    while (departures.under_way() > 0) departures.returned();
  }
};

}  // namespace penstock
