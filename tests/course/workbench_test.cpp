// SPDX-License-Identifier: Apache-2.0
#include "course/workbench.hpp"

#include <array>
#include <barrier>
#include <stdexcept>

#include "support/gate.hpp"
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"

namespace penstock::lab {
namespace {

using namespace std::chrono_literals;

/// Kernels of no length, on a device that gets back all that it lent.
struct AWorkbench : testing::Test {
  cpu::CpuDevice device{{.compute_threads = 2}};
  std::optional<Workbench> bench{std::in_place, device, WorkbenchOptions{.kernel_time = 0ns}};
  void TearDown() override {
    bench.reset();
    EXPECT_EQ(device.outstanding(), cpu::Outstanding{});
  }
};

TEST_F(AWorkbench, SaysWhenEachKernelRanInTheOrderOfTheirGiving) {
  {
    Stream const stream = device.make_stream();
    bench->kernel("row", "first", stream);
    bench->kernel("row", "second", stream);
    bench->kernel("other", "third", stream);
  }
  auto const intervals = bench->intervals();
  ASSERT_EQ(intervals.size(), 3u);
  EXPECT_EQ(intervals[0].label, "first");
  EXPECT_EQ(intervals[0].start, 0ns);
  EXPECT_EQ(intervals[2].row, "other");
  EXPECT_TRUE(before(intervals[0], intervals[1]));
  EXPECT_TRUE(before(intervals[1], intervals[2]));
}

TEST_F(AWorkbench, KnowsWhetherItsHoldLasts) {
  support::Gate gate;
  bench.reset();
  bench.emplace(device, WorkbenchOptions{.kernel_time = 0ns, .launch = [&](KernelWish const&, Stamp*, StreamRef own) {
                                           own.launch(1, [&](std::uint32_t) { gate.pass(); });
                                         }});
  EXPECT_FALSE(bench->holding());
  Stream const stream = device.make_stream();
  bench->hold({&stream, 1});
  EXPECT_TRUE(bench->holding());
  gate.open();
  stream.synchronize();
  EXPECT_FALSE(bench->holding());
}

TEST_F(AWorkbench, TakesALongerKernelIfAskedTo) {
  bench.reset();
  bench.emplace(device, WorkbenchOptions{.kernel_time = 1ms});
  Stream const stream = device.make_stream();
  bench->kernel("row", "long", stream, 3);
  EXPECT_GE(bench->intervals().at(0).length(), 3ms);
}

TEST_F(AWorkbench, PutsKernelsOtherWorkAndTheHostOnOneClock) {
  // Clocks are put together by one moment that was seen on each, while the bench was made: no further than that apart.
  bench.reset();
  auto const made = HostClock::now();
  bench.emplace(device, WorkbenchOptions{.kernel_time = 0ns});
  auto const slightly = HostClock::now() - made;
  Stream const stream = device.make_stream();
  auto const start = HostClock::now();
  bench->kernel("stream", "first", stream);
  auto const timed = bench->timed("stream", "second", stream, [&] { stream.launch(1, [](std::uint32_t) {}); });
  bench->kernel("stream", "third", stream);
  stream.synchronize();
  EXPECT_TRUE(timed.start.passed() && timed.end.passed());
  bench->note("host", "all", start, HostClock::now());
  auto const intervals = bench->intervals();
  ASSERT_EQ(intervals.size(), 4u);
  for (auto const& interval : intervals) EXPECT_GE(interval.length(), 0ns);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_LT(intervals[3].start, intervals[i].start + slightly);
    EXPECT_GT(intervals[3].end + slightly, intervals[i].end);
  }
  EXPECT_LT(intervals[0].end, intervals[1].start + slightly);
  EXPECT_LT(intervals[1].end, intervals[2].start + slightly);
}

TEST_F(AWorkbench, KnowsTheEngineOfEachPiece) {
  Stream const stream = device.make_stream();
  bench->kernel("stream", "A", stream);
  for (auto const* const label : {"upload", "kernel", "down"}) bench->timed("stream", label, stream, [] {});
  bench->note("host", "up and down", HostClock::now(), HostClock::now());
  std::vector<Engine> engines;
  for (auto const& interval : bench->intervals()) engines.push_back(interval.engine);
  EXPECT_EQ(engines, (std::vector{Engine::kernels, Engine::up, Engine::kernels, Engine::down, Engine::none}));
}

TEST_F(AWorkbench, SaysThatAKernelNeverRan) {
  bench.reset();
  bench.emplace(device, WorkbenchOptions{.launch = [](KernelWish const&, Stamp*, StreamRef) {}});
  Stream const stream = device.make_stream();
  bench->kernel("row", "lost", stream);
  EXPECT_THROW(bench->intervals(), Error);
}

TEST_F(AWorkbench, RefusesMoreKernelsThanItHasRoomFor) {
  Stream const stream = device.make_stream();
  for (int i = 0; i < 254; ++i) bench->kernel("row", "one of many", stream);
  EXPECT_THROW(bench->kernel("row", "one too many", stream), Error);
  EXPECT_EQ(bench->intervals().size(), 254u);
}

struct ATeamOfThree : testing::Test {
  cpu::CpuDevice device{{.compute_threads = 1}};
  ThreadTeam team{device, 3};
};

TEST_F(ATeamOfThree, DoesTheSameAtTheSameTimeEachForItself) {
  std::barrier together(3);
  std::array<int, 3> calls{};
  team.each([&](unsigned number) {
    together.arrive_and_wait();
    ++calls.at(number);
  });
  EXPECT_EQ(calls, (std::array{1, 1, 1}));
}

TEST_F(ATeamOfThree, KeepsItsThreadsFromOneToTheNext) {
  std::array<std::thread::id, 3> first, second;
  team.each([&](unsigned number) { first.at(number) = std::this_thread::get_id(); });
  team.each([&](unsigned number) { second.at(number) = std::this_thread::get_id(); });
  EXPECT_EQ(first, second);
  EXPECT_NE(first[0], first[1]);
  EXPECT_NE(first[0], std::this_thread::get_id());
}

TEST_F(ATeamOfThree, SaysWhatOneOfThemThrewAndServesOn) {
  auto const faulty = [](unsigned number) {
    if (number == 1) throw std::runtime_error("no");
  };
  EXPECT_THROW(team.each(faulty), std::runtime_error);
  team.each([](unsigned) {});
}

TEST_F(ATeamOfThree, MayHaveNothingToDo) {}

}  // namespace
}  // namespace penstock::lab
