// SPDX-License-Identifier: Apache-2.0
// A stream of one CPU device that waits for an event of another.
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <thread>

#include "support/gate.hpp"
#include "support/kernels.hpp"
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "models/modelled_time.hpp"

namespace penstock::cpu {
namespace {

using namespace std::chrono_literals;

/// Two devices. A stream of the first waits for an event of the second, which is in a kernel until the gate opens: at
/// the latest when the test does.
struct TwoDevices : testing::Test {
  support::Gate gate;
  std::optional<CpuDevice> first{std::in_place, CpuOptions{.compute_threads = 1}};
  std::optional<CpuDevice> second{std::in_place, CpuOptions{.ordinal = 1, .compute_threads = 1}};
  std::optional<Stream> waiting{first->make_stream()}, busy{second->make_stream()};
  std::optional<Event> passed{second->make_event()};
  Error const why{ErrorKind::device_lost, "It takes too long."};

  void SetUp() override {
    busy->launch(1, [this](std::uint32_t) { gate.pass(); });
    busy->record(*passed);
    waiting->wait(*passed);
    gate.await_reached();
    EXPECT_FALSE(waiting->idle());
  }
  void TearDown() override {
    gate.open();
    waiting.reset();
    passed.reset();
    busy.reset();
    for (auto* const device : {&first, &second}) {
      if (*device) {
        EXPECT_EQ((*device)->outstanding(), Outstanding{});
      }
    }
  }
};

TEST_F(TwoDevices, AreHealthyWhenOneWaitsForTheOther) {
  gate.open();
  waiting->synchronize();
  EXPECT_FALSE(first->lost());
}

TEST_F(TwoDevices, GoOnIfTheOtherIsLost) {
  busy->launch(1, [](std::uint32_t) { throw std::runtime_error("an illegal address"); });
  Event const behind = second->make_event();
  busy->record(behind);
  waiting->wait(behind);
  gate.open();
  waiting->synchronize();
  EXPECT_TRUE(second->lost());
  EXPECT_FALSE(first->lost());
}

TEST_F(TwoDevices, RefuseToWaitForOneThatIsLost) {
  second->abandon(why);
  try {
    waiting->wait(*passed);
    ADD_FAILURE() << "no Error was thrown";
  } catch (Error const& error) {
    EXPECT_STREQ(error.what(), why.what());
  }
  EXPECT_FALSE(first->lost());
}

TEST_F(TwoDevices, GoOnIfTheOtherIsAbandoned) {
  second->abandon(why);
  waiting->synchronize();
  EXPECT_FALSE(first->lost());
}

TEST_F(TwoDevices, AreNotHeldUpByTheOtherOnceTheyAreLost) {
  first->abandon(why);
  waiting.reset();
  first.reset();
  gate.open();
  busy->synchronize();
}

TEST_F(TwoDevices, GoOnIfTheOtherEnds) {
  std::jthread const ending([&] {
    passed.reset();
    busy.reset();
    second.reset();
  });
  gate.open();
  waiting->synchronize();
}

TEST_F(TwoDevices, HandALongChainToAndFro) {
  Event const here = first->make_event();
  Event const there = second->make_event();
  for (int i = 0; i < 20'000; ++i) {
    waiting->record(here);
    busy->wait(here);
    busy->record(there);
    waiting->wait(there);
  }
  gate.open();
  waiting->synchronize();
}

TEST_F(TwoDevices, MayEndWhileTheOtherTellsThem) {
  gate.open();
  for (int i = 0; i < 200; ++i) {
    std::optional<CpuDevice> brief{std::in_place, CpuOptions{.compute_threads = 1}};
    std::optional<Stream> its{brief->make_stream()};
    busy->launch(1, [](std::uint32_t) {});
    busy->record(*passed);
    its->wait(*passed);
    its.reset();
    brief.reset();
  }
}

TEST_F(TwoDevices, WaitForEachOtherFromSeveralThreads) {
  gate.open();
  constexpr int rounds = 2'000;
  std::array<std::uint64_t, 2> counts{};
  auto const count = [&](std::size_t i) {
    CpuDevice& mine = i == 0 ? *first : *second;
    CpuDevice& other = i == 0 ? *second : *first;
    Stream const here = mine.make_stream(), there = other.make_stream();
    Event const here_done = mine.make_event(), there_done = other.make_event();
    for (int round = 0; round < rounds; ++round) {
      here.launch(1, [&, i](std::uint32_t) { ++counts[i]; });
      here.record(here_done);
      there.wait(here_done);
      there.launch(1, [&, i](std::uint32_t) { ++counts[i]; });
      there.record(there_done);
      here.wait(there_done);
    }
    here.synchronize();
  };
  std::jthread beside([&] { count(1); });
  count(0);
  beside.join();
  EXPECT_EQ(counts[0], 2U * rounds);
  EXPECT_EQ(counts[1], 2U * rounds);
}

TEST(TwoModels, BeginBehindAnEventOfTheOtherOnceItHasPassedThere) {
  DeviceModel model;
  model.link = {.up = 10, .down = 10, .both = 10, .mapped = 10, .pageable = 1, .peer = 1};
  model.kernels = {.units = 10, .threads_per_unit = 128, .memory = 100, .tera_flops = 1};
  CpuDevice first({.compute_threads = 1, .time = modelled_time(model)}),
      second({.ordinal = 1, .compute_threads = 1, .time = modelled_time(model)});
  DeviceMemory const here = first.allocate(1'000'000), there = second.allocate(1'000'000);
  Stream const waiting = first.make_stream(), busy = second.make_stream();
  Event const passed = second.make_event(), copying = first.make_event({.timing = true}),
              copied = first.make_event({.timing = true});
  std::uint64_t ended = 0, began = 0;
  // Work that is put in later than it could begin would begin later.
  support::Gate gate;
  busy.launch(1, [&](std::uint32_t) { gate.pass(); }, {.time = 5ms, .ended = &ended});
  busy.record(passed);
  waiting.wait(passed);
  waiting.launch(1, [](std::uint32_t) {}, {.time = 1us, .began = &began});
  waiting.record(copying);
  waiting.copy(here.bytes(), there.bytes());
  waiting.record(copied);
  gate.open();
  waiting.synchronize();
  EXPECT_GT(ended, 0U);
  EXPECT_GE(began, ended);
  EXPECT_EQ(copied.since(copying), 1ms) << "a megabyte at 1 GB/s, though the GPUs' memory is faster";
}

}  // namespace
}  // namespace penstock::cpu
