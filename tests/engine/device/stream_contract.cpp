// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include <gmock/gmock.h>

#include "engine/device/device_contract.hpp"

namespace penstock {
namespace {

using testing::Each;

constexpr std::size_t bytes = 4096;

TEST_P(DeviceContract, RunsWhatIsInAStreamInItsOrder) {
  auto const in = host(bytes);
  auto const out = host(bytes);
  auto const there = memory(bytes);
  std::ranges::fill(in, std::byte{7});
  Stream const own = stream();
  own.upload(there, in);
  for (int i = 0; i < 50; ++i) kernels().add_one(own, there);
  own.download(out, there);
  own.synchronize();
  EXPECT_TRUE(own.idle());
  EXPECT_THAT(out, Each(std::byte{57}));
}

TEST_P(DeviceContract, IsBusyUntilItsLastWorkIsDone) {
  Stream const own = stream();
  auto still = hold(own);
  Event const end = mark(own);
  let_all_else_run();
  EXPECT_FALSE(own.idle());
  EXPECT_FALSE(end.passed());
  still.open();
  own.synchronize();
  EXPECT_TRUE(own.idle());
  EXPECT_TRUE(end.passed());
}

TEST_P(DeviceContract, LetsStreamsRunBesideEachOther) {
  if (!kernels().run_beside_each_other()) GTEST_SKIP() << "Here one kernel waits for another.";
  auto const there = memory(bytes);
  Stream const held = stream();
  Stream const other = stream();
  auto still = hold(held);
  kernels().fill(other, there, std::byte{3});
  other.synchronize();
  EXPECT_FALSE(held.idle());
  EXPECT_THAT(read(there), Each(std::byte{3}));
}

TEST_P(DeviceContract, DestroysAStreamOnlyWhenItsWorkIsDone) {
  auto const there = memory(bytes);
  Event const end = event();
  {
    Stream const own = stream();
    for (int i = 0; i < 200; ++i) kernels().add_one(own, there);
    own.record(end);
  }
  EXPECT_TRUE(end.passed());
  EXPECT_THAT(read(there), Each(std::byte{200}));
}

TEST_P(DeviceContract, TakesAnyPriority) {
  auto const there = memory(bytes);
  for (int const priority : {-1'000'000, -1, 0, 1'000'000}) {
    Stream const own = device().make_stream({.priority = priority});
    kernels().add_one(own, there);
  }
  EXPECT_THAT(read(there), Each(std::byte{4}));
}

TEST_P(DeviceContract, RefusesACopyThatDoesNotFit) {
  auto const there = memory(bytes);
  auto const here = host(2 * bytes);
  Stream const own = stream();
  EXPECT_THROW(own.upload(there, here), Error);
  EXPECT_THROW(own.download(here.first(bytes - 1), there), Error);
  EXPECT_TRUE(own.idle());
}

TEST_P(DeviceContract, CopiesNothingWithoutComplaint) {
  Stream const own = stream();
  own.upload({}, {});
  own.download({}, {});
  own.synchronize();
}

/// Each thread's counter is incremented from a stream that changes at random, each stream handing over to the next by
/// an event, while stray calls on the legacy stream join them now and then. No increment may be lost or torn.
TEST_P(DeviceContract, KeepsOrderInAFloodOfTenThousandOperations) {
  constexpr unsigned threads = 4;
  constexpr int hops = 850;  // Each has three operations.
  std::vector<std::span<std::byte>> counters;
  for (unsigned i = 0; i < threads; ++i) counters.push_back(memory(bytes));
  auto const stray_counter = memory(bytes);
  std::atomic<int> strays{0};
  std::vector<std::jthread> running;
  for (unsigned i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      device().attach();
      std::minstd_rand random(i + 1);
      std::vector<Stream> streams;
      for (int s = 0; s < 4; ++s) streams.push_back(stream(s % 2 == 0));
      Event const handed_over = event();
      for (int hop = 0; hop < hops; ++hop) {
        StreamRef const next = streams[random() % streams.size()];
        next.wait(handed_over);
        kernels().add_one(next, counters[i]);
        next.record(handed_over);
        if (random() % 64 == 0) {
          kernels().add_one(device().legacy_default_stream(), stray_counter);
          ++strays;
        }
      }
    });
  }
  running.clear();
  device().synchronize();
  for (auto const counter : counters) EXPECT_THAT(read(counter), Each(static_cast<std::byte>(hops % 256)));
  EXPECT_THAT(read(stray_counter), Each(static_cast<std::byte>(strays.load())));
}

}  // namespace
}  // namespace penstock
