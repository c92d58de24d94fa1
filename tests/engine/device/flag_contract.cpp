// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "engine/device/device_contract.hpp"

namespace penstock {
namespace {

using testing::Each;

constexpr std::size_t bytes = 4096;

/// Blocks: until the flag has that number or a greater one.
void await_number(FlagRef flag, std::uint64_t number) {
  while (flag.read() < number) std::this_thread::yield();
}

TEST_P(DeviceContract, WritesAFlagWhenItsStreamComesToItAndNotBefore) {
  Flag const flag = device().make_flag();
  Flag const other = device().make_flag();
  EXPECT_EQ(flag.read(), 0u);
  Stream const own = stream();
  auto still = hold(own);
  own.write(flag, 7);
  let_all_else_run();
  EXPECT_EQ(flag.read(), 0u);
  still.open();
  own.synchronize();
  EXPECT_EQ(flag.read(), 7u);
  EXPECT_EQ(other.read(), 0u);
}

TEST_P(DeviceContract, ShowsWhatWasDownloadedToWhoeverReadsTheNumberBehindIt) {
  auto const in = host(bytes);
  auto const out = host(bytes);
  auto const there = memory(bytes);
  Flag const flag = device().make_flag();
  Stream const own = stream();
  for (std::uint64_t round = 1; round <= 200; ++round) {
    std::ranges::fill(in, static_cast<std::byte>(round));
    own.upload(there, in);
    kernels().add_one(own, there);
    own.download(out, there);
    own.write(flag, round);
    await_number(flag, round);
    ASSERT_THAT(out, Each(static_cast<std::byte>(round + 1))) << "round " << round;
  }
  own.synchronize();
}

TEST_P(DeviceContract, WritesTheNumbersOfAStreamInItsOrderAndEachAsAWhole) {
  constexpr std::uint64_t last = 2000;
  // Both halves are the same, so that a number of which only one was written is seen.
  constexpr auto twice = [](std::uint64_t number) { return number << 32 | number; };
  auto const there = memory(bytes);
  Flag const flag = device().make_flag();
  Stream const own = stream();
  std::jthread const reader([&] {
    for (std::uint64_t before = 0; before < twice(last);) {
      std::uint64_t const now = flag.read();
      ASSERT_EQ(now >> 32, now & 0xffff'ffffu);
      ASSERT_GE(now, before);
      before = now;
    }
  });
  for (std::uint64_t number = 1; number <= last; ++number) {
    if (number % 16 == 0) kernels().add_one(own, there);
    own.write(flag, twice(number));
  }
  own.synchronize();
  EXPECT_EQ(flag.read(), twice(last));
}

TEST_P(DeviceContract, WritesNoFlagBeforeTheEventThatItsStreamWaitsFor) {
  Flag const flag = device().make_flag();
  Stream const held = stream();
  Stream const waiting = stream();
  auto still = hold(held);
  Event const opened = mark(held);
  waiting.write(flag, 1);
  waiting.wait(opened);
  waiting.write(flag, 2);
  await_number(flag, 1);
  let_all_else_run();
  EXPECT_EQ(flag.read(), 1u);
  still.open();
  waiting.synchronize();
  EXPECT_EQ(flag.read(), 2u);
}

TEST_P(DeviceContract, WritesTheFlagsOfManyStreamsAndThreads) {
  constexpr std::size_t threads = 4;
  constexpr std::uint64_t rounds = 100;
  std::vector<std::span<std::byte>> in, out, there;
  for (std::size_t i = 0; i < threads; ++i) {
    in.push_back(host(bytes));
    out.push_back(host(bytes));
    there.push_back(memory(bytes));
  }
  std::vector<std::jthread> running;
  for (std::size_t i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      device().attach();
      Flag const flag = device().make_flag();
      StreamRef const own = device().per_thread_default_stream();
      for (std::uint64_t round = 1; round <= rounds; ++round) {
        std::ranges::fill(in[i], static_cast<std::byte>(round + i));
        own.upload(there[i], in[i]);
        own.download(out[i], there[i]);
        own.write(flag, round);
        await_number(flag, round);
        ASSERT_THAT(out[i], Each(static_cast<std::byte>(round + i)));
      }
      own.synchronize();
    });
  }
}

TEST_P(DeviceContract, WritesAFlagFromItsLegacyStreamToo) {
  Flag const flag = device().make_flag();
  StreamRef const legacy = device().legacy_default_stream();
  Stream const blocking = stream(true);
  auto still = hold(blocking);
  legacy.write(flag, 5);
  let_all_else_run();
  EXPECT_EQ(flag.read(), 0u) << "it takes turns with a blocking stream";
  still.open();
  legacy.synchronize();
  EXPECT_EQ(flag.read(), 5u);
}

}  // namespace
}  // namespace penstock
