// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "support/calls.hpp"
#include <gmock/gmock.h>

#include "engine/cpu/cpu_world.hpp"

namespace penstock::cpu {

/// A device that a fault ends in each test. It has one callback thread, so that callbacks come in one order.
struct LostDevice : CpuWorld {
  LostDevice() : CpuWorld({.compute_threads = 4, .callback_threads = 1}) {}
  /// Ends the device from a stream of its own.
  void lose(std::string const& cause = "an illegal address") {
    Stream const doomed = device.make_stream();
    doomed.launch(1, [cause](std::uint32_t) { throw std::runtime_error(cause); });
    EXPECT_EQ(kind_thrown_by([&] { doomed.synchronize(); }), ErrorKind::device_lost);
  }
  /// Does as `lose`, and waits for a callback behind the fault: those that could come by then have come.
  void lose_and_await_callbacks() {
    support::Calls calls;
    support::NotedCallback behind(calls, 0);
    Stream const doomed = device.make_stream();
    auto still = kernels.hold(doomed);
    doomed.launch(1, [](std::uint32_t) { throw std::runtime_error("an illegal address"); });
    doomed.call(behind);
    still.open();
    calls.await(1);
    // Whatever has not passed when its stream dies would bring late callbacks with it, and this one is still to end.
    EXPECT_EQ(kind_thrown_by([&] { doomed.synchronize(); }), ErrorKind::device_lost);
  }
  void expect_lost_for(std::string const& cause) {
    ASSERT_TRUE(device.lost());
    EXPECT_TRUE(device.lost()->sticky());
    EXPECT_THAT(device.lost()->what(), testing::HasSubstr(cause));
  }
};

}  // namespace penstock::cpu
