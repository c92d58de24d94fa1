// SPDX-License-Identifier: Apache-2.0
// Promises of a device for events of another device.
#include <algorithm>

#include <gmock/gmock.h>

#include "engine/device/device_contract.hpp"

namespace penstock {
namespace {

using testing::Each;

constexpr std::size_t bytes = 4096;

TEST_P(DeviceContract, WaitsForAnEventOfAnotherDevice) {
  if (!has_second(bytes)) GTEST_SKIP() << "this takes two devices";
  Stream const other = second().make_stream();
  Event const made = second().make_event();
  device().attach();
  auto const here = memory(bytes);
  Stream const own = stream();
  second().attach();
  auto still = hold(other);
  kernels().fill(other, there_too(), std::byte{4});
  other.record(made);
  device().attach();
  kernels().fill(own, here, std::byte{1});
  Event const before = mark(own);
  own.wait(made);
  own.copy(here, there_too());
  kernels().add_one(own, here);
  before.wait();
  let_all_else_run();
  EXPECT_FALSE(own.idle());
  EXPECT_THAT(read(here), Each(std::byte{1}));
  still.open();
  own.synchronize();
  EXPECT_THAT(read(here), Each(std::byte{5}));
}

TEST_P(DeviceContract, GoesOnAtOnceBehindAnEventOfAnotherDeviceThatHasPassed) {
  if (!has_second(bytes)) GTEST_SKIP() << "this takes two devices";
  Stream const other = second().make_stream();
  Event const never = second().make_event();
  Event const passed = second().make_event();
  other.record(passed);
  other.synchronize();
  device().attach();
  Stream const own = stream();
  own.wait(never);
  own.wait(passed);
  own.synchronize();
  EXPECT_TRUE(own.idle());
}

TEST_P(DeviceContract, WaitsForTheRecordOfAnotherDeviceThatWasTheLatestThen) {
  if (!has_second(bytes)) GTEST_SKIP() << "this takes two devices";
  Stream const first = second().make_stream();
  Stream const later = second().make_stream();
  device().attach();
  Stream const own = stream();
  Event const end = event();
  second().attach();
  auto first_still = hold(first);
  auto later_still = hold(later);
  {
    Event const moving = second().make_event();
    first.record(moving);
    own.wait(moving);
    later.record(moving);  // The event dies then.
  }
  device().attach();
  own.record(end);
  let_all_else_run();
  EXPECT_FALSE(end.passed());
  first_still.open();
  end.wait();
  EXPECT_FALSE(later.idle());
}

TEST_P(DeviceContract, HandsWorkToAndFroBetweenDevices) {
  if (!has_second(bytes)) GTEST_SKIP() << "this takes two devices";
  constexpr int rounds = 50;
  Stream const other = second().make_stream();
  Event const there_done = second().make_event();
  device().attach();
  auto const here = memory(bytes);
  Stream const own = stream();
  Event const here_done = event();
  auto still = hold(own);
  for (int i = 0; i < rounds; ++i) {
    kernels().add_one(own, here);
    own.copy(there_too(), here);
    own.record(here_done);
    second().attach();
    other.wait(here_done);
    kernels().add_one(other, there_too());
    other.copy(here, there_too());
    other.record(there_done);
    device().attach();
    own.wait(there_done);
  }
  still.open();
  own.synchronize();
  EXPECT_THAT(read(here), Each(std::byte{2 * rounds}));
}

}  // namespace
}  // namespace penstock
