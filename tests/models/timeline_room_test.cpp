// SPDX-License-Identifier: Apache-2.0
// Times that kernels of few blocks, and those that reach other GPUs, take on a modelled one.
#include <chrono>

#include <gtest/gtest.h>

#include "models/timeline_world.hpp"

namespace penstock::cpu {
namespace {

using namespace std::chrono_literals;

TEST(RoomOnATimeline, HasAKernelOfFewBlocksComputeWithItsShareOfTheMultiprocessors) {
  TimelineOf device(plain_model());
  Operation const& half = device.kernel(device.stream(), {.flops = 5e6, .blocks = 1});
  Operation const& all = device.kernel(device.stream(), {.flops = 5e6, .blocks = 2});
  device.run();
  EXPECT_EQ(device.end(half), 10us);
  EXPECT_EQ(modelled(all).end - modelled(all).begin, 5us);
}

TEST(RoomOnATimeline, TakesTheLinkBetweenGpusForWhatGoesToOthersAndElseThatToTheHost) {
  DeviceModel model = plain_model();
  TimelineOf by_the_host(model);
  Operation const& slow = by_the_host.kernel(by_the_host.stream(), {.peer_bytes = 5'000, .blocks = 1});
  by_the_host.run();
  EXPECT_EQ(by_the_host.end(slow), 5us) << "at 1 GB/s";
  model.link.peer = 5;
  TimelineOf linked(model);
  Operation const& fast = linked.kernel(linked.stream(), {.peer_bytes = 5'000, .blocks = 1});
  linked.run();
  EXPECT_EQ(linked.end(fast), 1us);
}

/// Tuning::spare is for this.
TEST(RoomOnATimeline, LetsAnUrgentKernelBeginAtOnceBesideOneThatLeavesMultiprocessorsFree) {
  TimelineOf device(plain_model());
  Operation const& computes = device.kernel(device.stream(), {.time = 10us, .blocks = 1});
  device.pass(1us);
  Operation const& urgent = device.kernel(device.stream(greatest_priority), {.peer_bytes = 2'000, .blocks = 1});
  device.run();
  EXPECT_EQ(device.begin(urgent), 1us);
  EXPECT_EQ(device.end(urgent), 3us);
  EXPECT_EQ(device.end(computes), 10us);
}

}  // namespace
}  // namespace penstock::cpu
