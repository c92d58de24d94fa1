// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <barrier>
#include <thread>

#include <gmock/gmock.h>

#include "engine/device/device_contract.hpp"

namespace penstock {
namespace {

using testing::Each;

constexpr std::size_t bytes = 4096;

/// Zero is a stream that joins the others in one flavour, and one that each thread has for itself in the other.
TEST_P(DeviceContract, MeansByItsDefaultStreamWhatItsFlavourSays) {
  auto const there = memory(bytes);
  StreamRef const zero = device().thread_default_stream();
  auto still = hold(zero);
  std::jthread([&] {
    device().attach();
    StreamRef const elsewhere = device().thread_default_stream();
    if (device().flavour() == Flavour::legacy) {
      Event const end = mark(elsewhere);
      let_all_else_run();
      EXPECT_FALSE(end.passed()) << "a thread has a stream of its own";
      still.open();
      end.wait();
      EXPECT_TRUE(zero.idle());
    } else if (kernels().run_beside_each_other()) {
      kernels().fill(elsewhere, there, std::byte{5});
      elsewhere.synchronize();
      EXPECT_THAT(read(there), Each(std::byte{5}));
    }
  }).join();
  EXPECT_EQ(zero.idle(), device().flavour() == Flavour::legacy) << "only in one flavour does another thread open it";
}

TEST_P(DeviceContract, HasBothDefaultStreamsWhateverItsFlavour) {
  StreamRef const legacy = device().legacy_default_stream();
  StreamRef const own = device().per_thread_default_stream();
  EXPECT_NE(legacy, own);
  EXPECT_EQ(device().thread_default_stream(), device().flavour() == Flavour::legacy ? legacy : own);
}

TEST_P(DeviceContract, MakesTheLegacyStreamWaitForBlockingStreams) {
  auto const there = memory(bytes);
  auto const out = host(bytes);
  Stream const blocking = stream(true);
  auto still = hold(blocking);
  kernels().fill(blocking, there, std::byte{1});
  StreamRef const legacy = device().legacy_default_stream();
  legacy.download(out, there);
  Event const end = mark(legacy);
  let_all_else_run();
  EXPECT_FALSE(end.passed());
  still.open();
  end.wait();
  EXPECT_THAT(out, Each(std::byte{1}));
}

TEST_P(DeviceContract, MakesBlockingStreamsWaitForTheLegacyStream) {
  auto const there = memory(bytes);
  auto const out = host(bytes);
  StreamRef const legacy = device().legacy_default_stream();
  Stream const blocking = stream(true);
  auto still = hold(legacy);
  kernels().fill(legacy, there, std::byte{1});
  blocking.download(out, there);
  Event const end = mark(blocking);
  let_all_else_run();
  EXPECT_FALSE(end.passed());
  still.open();
  end.wait();
  EXPECT_THAT(out, Each(std::byte{1}));
}

TEST_P(DeviceContract, JoinsAllBlockingStreamsWithOneLegacyCall) {
  auto const scratch = memory(bytes);
  Stream const held = stream(true);
  Stream const other = stream(true);
  auto still = hold(held);
  // The two would not know each other without the legacy call.
  Event const before = mark(other);
  before.wait();
  kernels().add_one(device().legacy_default_stream(), scratch);
  Event const after = mark(other);
  let_all_else_run();
  EXPECT_FALSE(after.passed());
  still.open();
  after.wait();
  EXPECT_TRUE(held.idle());
}

TEST_P(DeviceContract, LetsNonBlockingStreamsEscapeTheLegacyStream) {
  if (!kernels().run_beside_each_other()) GTEST_SKIP() << "Here one kernel waits for another.";
  auto const there = memory(bytes);
  StreamRef const legacy = device().legacy_default_stream();
  Stream const free = stream();
  {
    auto still = hold(legacy);
    kernels().fill(free, there, std::byte{1});
    free.synchronize();
    EXPECT_FALSE(legacy.idle());
  }
  auto still = hold(free);
  kernels().fill(legacy, there, std::byte{2});
  legacy.synchronize();
  EXPECT_FALSE(free.idle());
  EXPECT_THAT(read(there), Each(std::byte{2}));
}

TEST_P(DeviceContract, MakesPerThreadStreamsWaitForTheLegacyStream) {
  StreamRef const legacy = device().legacy_default_stream();
  auto still = hold(legacy);
  std::jthread([&] {
    device().attach();
    Event const mine = mark(device().per_thread_default_stream());
    let_all_else_run();
    EXPECT_FALSE(mine.passed());
    still.open();
    mine.wait();
  }).join();
}

TEST_P(DeviceContract, MakesTheLegacyStreamWaitForPerThreadStreams) {
  std::jthread([&] {
    device().attach();
    StreamRef const mine = device().per_thread_default_stream();
    auto still = hold(mine);
    Event const end = mark(device().legacy_default_stream());
    let_all_else_run();
    EXPECT_FALSE(end.passed());
    still.open();
    end.wait();
    EXPECT_TRUE(mine.idle());
  }).join();
}

TEST_P(DeviceContract, GivesThePerThreadHandleTheMeaningOfItsUser) {
  if (!kernels().run_beside_each_other()) GTEST_SKIP() << "Here one kernel waits for another.";
  auto const there = memory(bytes);
  StreamRef const handle = device().per_thread_default_stream();
  auto still = hold(handle);
  std::jthread([&] {
    device().attach();
    kernels().fill(handle, there, std::byte{9});
    handle.synchronize();
  }).join();
  EXPECT_FALSE(handle.idle());
  EXPECT_THAT(read(there), Each(std::byte{9}));
  still.open();
  handle.synchronize();
}

TEST_P(DeviceContract, RunsThePerThreadStreamsOfEightThreadsAtOnce) {
  if (!kernels().run_beside_each_other()) GTEST_SKIP() << "Here one kernel waits for another.";
  constexpr int threads = 8;
  std::barrier all_held(threads);
  std::vector<std::span<std::byte>> in, out, there;
  for (int i = 0; i < threads; ++i) {
    in.push_back(host(bytes));
    out.push_back(host(bytes));
    there.push_back(memory(bytes));
  }
  std::vector<std::jthread> running;
  for (std::size_t i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      device().attach();
      StreamRef const mine = device().per_thread_default_stream();
      std::ranges::fill(in[i], static_cast<std::byte>(10 * i));
      auto still = hold(mine);
      mine.upload(there[i], in[i]);
      kernels().add_one(mine, there[i]);
      mine.download(out[i], there[i]);
      still.await_reached();
      all_held.arrive_and_wait();
      still.open();
      mine.synchronize();
      EXPECT_THAT(out[i], Each(static_cast<std::byte>(10 * i + 1)));
    });
  }
}

}  // namespace
}  // namespace penstock
