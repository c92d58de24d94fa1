// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <list>
#include <numeric>

#include "support/calls.hpp"
#include "support/gate.hpp"
#include <gmock/gmock.h>

#include "engine/device/device_contract.hpp"

namespace penstock {
namespace {

using support::Calls;
using support::NotedCallback;
using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;

constexpr std::size_t bytes = 4096;

/// Ways to ask a stream for a call. Where nothing fails both are the same.
using Ask = void (StreamRef::*)(StreamCallback&) const;
constexpr std::array<Ask, 2> both_ways{&StreamRef::call, &StreamRef::launch_host_function};

/// Looks at host memory when it is called.
class Look final : public StreamCallback {
 public:
  Look(std::span<std::byte const> at, std::byte expected) : at_(at), expected_(expected) {}
  void called(StreamStatus status) noexcept override {
    saw_it_ = std::ranges::all_of(at_, [this](std::byte byte) { return byte == expected_; });
    well_ = status.ok && !status.sticky && status.code == 0;
  }
  bool saw_it() const { return saw_it_; }
  bool well() const { return well_; }

 private:
  std::span<std::byte const> at_;
  std::byte expected_;
  std::atomic<bool> saw_it_{false};
  std::atomic<bool> well_{false};
};

/// Does not return before it is let go, as no proper callback would.
class Stuck final : public StreamCallback {
 public:
  void called(StreamStatus) noexcept override { gate.pass(); }
  support::Gate gate;
};

TEST_P(DeviceContract, CallsBackOnceAllBeforeTheCallIsDone) {
  auto const in = host(bytes);
  auto const out = host(bytes);
  auto const there = memory(bytes);
  std::ranges::fill(in, std::byte{8});
  for (Ask const ask : both_ways) {
    std::ranges::fill(out, std::byte{0});
    Look after_all(out, std::byte{9});
    Stream const own = stream();
    auto still = hold(own);
    own.upload(there, in);
    kernels().add_one(own, there);
    own.download(out, there);
    (own.*ask)(after_all);
    still.open();
    own.synchronize();
    EXPECT_TRUE(after_all.saw_it());
    EXPECT_TRUE(after_all.well());
  }
}

TEST_P(DeviceContract, CallsEachCallbackOfAStreamOnceAndInOrderWhicheverWayItWasAsked) {
  std::vector<int> expected(500);
  std::iota(expected.begin(), expected.end(), 0);
  Calls calls;
  std::list<NotedCallback> callbacks;
  auto const there = memory(bytes);
  Stream const own = stream();
  for (int const number : expected) {
    if (number % 3 == 0) kernels().add_one(own, there);
    (own.*both_ways[static_cast<std::size_t>(number / 2 % 2)])(callbacks.emplace_back(calls, number));
  }
  own.synchronize();
  EXPECT_THAT(calls.numbers(), ElementsAreArray(expected));
}

TEST_P(DeviceContract, CallsTheCallbacksOfManyStreamsOnceEach) {
  constexpr int count = 32;
  Calls calls;
  std::list<NotedCallback> callbacks;
  std::vector<Stream> streams;
  for (int i = 0; i < count; ++i) {
    streams.push_back(stream(i % 2 == 0));
    (streams.back().*both_ways[static_cast<std::size_t>(i / 2 % 2)])(callbacks.emplace_back(calls, i));
  }
  device().synchronize();
  std::vector<int> expected(count);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_THAT(calls.numbers(), testing::UnorderedElementsAreArray(expected));
}

TEST_P(DeviceContract, HoldsAStreamAndNoOtherWhileItsCallbackRuns) {
  if (!kernels().run_beside_each_other()) GTEST_SKIP() << "Here one kernel waits for another.";
  auto const there = memory(bytes);
  for (Ask const ask : both_ways) {
    Stuck stuck;
    Stream const held = stream();
    Stream const other = stream();
    (held.*ask)(stuck);
    Event const behind = mark(held);
    stuck.gate.await_reached();
    kernels().fill(other, there, std::byte{6});
    other.synchronize();
    EXPECT_FALSE(behind.passed());
    stuck.gate.open();
    behind.wait();
    EXPECT_THAT(read(there), Each(std::byte{6}));
  }
}

TEST_P(DeviceContract, CallsBackFromAThreadOfItsOwn) {
  for (Ask const ask : both_ways) {
    Calls calls;
    NotedCallback callback(calls, 0);
    Stream const own = stream();
    (own.*ask)(callback);
    own.synchronize();
    ASSERT_EQ(calls.count(), 1u);
    EXPECT_NE(calls.all().front().thread, std::this_thread::get_id());
  }
}

TEST_P(DeviceContract, CallsBackBeforeAStreamIsDestroyed) {
  Calls calls;
  NotedCallback first(calls, 1), second(calls, 2);
  auto const there = memory(bytes);
  {
    Stream const own = stream();
    for (int i = 0; i < 50; ++i) kernels().add_one(own, there);
    own.call(first);
    own.launch_host_function(second);
  }
  EXPECT_THAT(calls.numbers(), ElementsAre(1, 2));
}

TEST_P(DeviceContract, CallsNobodyBackWhoseCallWasDropped) {
  Calls calls;
  NotedCallback before(calls, 1), dropped(calls, 2), dropped_too(calls, 3), elsewhere(calls, 4), after(calls, 5);
  Stream const held = stream();
  Stream const own = stream();
  Stream const other = stream();
  own.call(before);
  own.synchronize();
  auto still = hold(held);
  Event const opened = mark(held);
  for (Stream const* waiting : {&own, &other}) waiting->wait(opened);
  own.call(dropped);
  own.launch_host_function(dropped_too);
  other.call(elsewhere);
  own.drop_calls();
  own.call(after);
  still.open();
  own.synchronize();
  other.synchronize();
  EXPECT_THAT(calls.numbers(), testing::UnorderedElementsAre(1, 4, 5));
}

TEST_P(DeviceContract, DropsCallsWithoutWaitingForItsKernels) {
  Calls calls;
  NotedCallback dropped(calls, 1);
  Stream const own = stream();
  auto still = hold(own);
  own.call(dropped);
  still.await_reached();
  own.drop_calls();
  EXPECT_FALSE(own.idle());
  still.open();
  own.synchronize();
  EXPECT_EQ(calls.count(), 0u);
}

}  // namespace
}  // namespace penstock
