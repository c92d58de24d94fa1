// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <thread>

#include <gmock/gmock.h>

#include "engine/device/device_contract.hpp"

namespace penstock {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::size_t bytes = 4096;

TEST_P(DeviceContract, LetsNobodyWaitForAnEventThatWasNeverRecorded) {
  Stream const own = stream();
  Event const never = event();
  own.wait(never);
  own.synchronize();
  EXPECT_TRUE(never.passed());
  never.wait();
}

TEST_P(DeviceContract, HasEventsOfSeveralProcessesThatAreAsGoodInOne) {
  auto const there = memory(bytes);
  Stream const work = stream();
  Stream const waiting = stream();
  Event const shared = device().make_event({.interprocess = true});
  EXPECT_TRUE(shared.passed());
  for (int i = 1; i <= 3; ++i) {
    kernels().fill(work, there, std::byte(i));
    work.record(shared);
    waiting.wait(shared);
    waiting.synchronize();
    EXPECT_TRUE(shared.passed());
    shared.wait();
    EXPECT_THAT(read(there), Each(std::byte(i)));
  }
  EXPECT_EQ(shared.handle(), shared.handle());
}

TEST_P(DeviceContract, GivesAHandleOfNoEventThatWasMadeForOneProcess) {
  EXPECT_THAT([&] { static_cast<void>(event().handle()); }, ThrowsMessage<Error>(HasSubstr("interprocess")));
}

TEST_P(DeviceContract, KeepsNoTimeForSeveralProcesses) {
  EXPECT_THAT([&] { static_cast<void>(device().make_event({.timing = true, .interprocess = true})); },
              ThrowsMessage<Error>(HasSubstr("leave out timing")));
}

TEST_P(DeviceContract, OpensNoEventOfAHandleThatNamesNone) {
  EventHandle nonsense;
  std::ranges::fill(nonsense.bytes, std::byte{7});
  EXPECT_THAT([&] { static_cast<void>(device().open_event(nonsense)); }, ThrowsMessage<Error>(HasSubstr("handle")));
}

TEST_P(DeviceContract, KeepsOrderAcrossStreamsByEvents) {
  auto const in = host(bytes);
  auto const out = host(bytes);
  auto const there = memory(bytes);
  std::ranges::fill(in, std::byte{40});
  Stream const up = stream();
  Stream const work = stream();
  Stream const down = stream();
  auto still = hold(up);
  up.upload(there, in);
  Event const arrived = mark(up);
  work.wait(arrived);
  kernels().add_one(work, there);
  kernels().add_one(work, there);
  Event const worked = mark(work);
  down.wait(worked);
  down.download(out, there);
  Event const home = mark(down);
  let_all_else_run();
  EXPECT_FALSE(home.passed());
  EXPECT_FALSE(worked.passed());
  still.open();
  home.wait();
  EXPECT_THAT(out, Each(std::byte{42}));
}

TEST_P(DeviceContract, HoldsWhatComesAfterAWaitAndNothingBeforeIt) {
  auto const there = memory(bytes);
  Stream const held = stream();
  Stream const waiting = stream();
  auto still = hold(held);
  Event const opened = mark(held);
  kernels().fill(waiting, there, std::byte{1});
  Event const before = mark(waiting);
  waiting.wait(opened);
  kernels().fill(waiting, there, std::byte{2});
  before.wait();
  let_all_else_run();
  EXPECT_THAT(read(there), Each(std::byte{1}));
  still.open();
  waiting.synchronize();
  EXPECT_THAT(read(there), Each(std::byte{2}));
}

TEST_P(DeviceContract, WaitsForTheRecordThatWasTheLatestWhenItWasAsked) {
  Stream const first = stream();
  Stream const second = stream();
  Stream const waiting = stream();
  Event const moving = event();
  auto first_still = hold(first);
  first.record(moving);
  waiting.wait(moving);
  auto second_still = hold(second);
  second.record(moving);
  Event const end = mark(waiting);
  let_all_else_run();
  EXPECT_FALSE(end.passed());
  first_still.open();
  end.wait();
  EXPECT_FALSE(moving.passed());
}

TEST_P(DeviceContract, ForgetsAnEarlierRecordWhenAnEventIsRecordedAgain) {
  Stream const held = stream();
  Stream const quick = stream();
  Stream const waiting = stream();
  Event const moved = event();
  auto still = hold(held);
  held.record(moved);
  quick.record(moved);
  waiting.wait(moved);
  waiting.synchronize();
  moved.wait();
  EXPECT_TRUE(moved.passed());
  EXPECT_FALSE(held.idle());
}

TEST_P(DeviceContract, LetsAnEventDieWhileStreamsWaitForIt) {
  Stream const held = stream();
  Stream const waiting = stream();
  auto still = hold(held);
  waiting.wait(mark(held));
  Event const end = mark(waiting);
  let_all_else_run();
  EXPECT_FALSE(end.passed());
  still.open();
  end.wait();
}

TEST_P(DeviceContract, WakesThreadsThatWaitForAnEvent) {
  auto const in = host(bytes);
  auto const out = host(bytes);
  auto const there = memory(bytes);
  std::ranges::fill(in, std::byte{5});
  for (bool const blocking_wait : {false, true}) {
    std::ranges::fill(out, std::byte{0});
    Stream const own = stream();
    Event const end = device().make_event({.blocking_wait = blocking_wait});
    auto still = hold(own);
    own.upload(there, in);
    own.download(out, there);
    own.record(end);
    std::jthread waiter([&] {
      device().attach();
      end.wait();
      EXPECT_THAT(out, Each(std::byte{5}));
    });
    let_all_else_run();
    EXPECT_FALSE(end.passed());
    still.open();
  }
}

TEST_P(DeviceContract, KnowsTheTimeBetweenEventsOnceBothHavePassed) {
  Stream const own = stream();
  Event const start = device().make_event({.timing = true});
  Event const end = device().make_event({.timing = true});
  EXPECT_EQ(end.since(start), std::nullopt);
  own.record(start);
  auto still = hold(own);
  own.record(end);
  start.wait();
  let_all_else_run();
  EXPECT_EQ(end.since(start), std::nullopt);
  still.open();
  end.wait();
  ASSERT_TRUE(end.since(start));
  EXPECT_GT(*end.since(start), std::chrono::nanoseconds(0));
}

}  // namespace
}  // namespace penstock
