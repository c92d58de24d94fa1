// SPDX-License-Identifier: Apache-2.0
#include "penstock/lab/workbench.hpp"

#include <gtest/gtest.h>

#include "penstock/cpu/cpu_device.hpp"

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

TEST_F(AWorkbench, TakesALongerKernelIfAskedTo) {
  bench.reset();
  bench.emplace(device, WorkbenchOptions{.kernel_time = 1ms});
  Stream const stream = device.make_stream();
  bench->kernel("row", "long", stream, 3);
  EXPECT_GE(bench->intervals().at(0).length(), 3ms);
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
  for (int i = 0; i < 32; ++i) bench->kernel("row", "one of many", stream);
  EXPECT_THROW(bench->kernel("row", "one too many", stream), Error);
  EXPECT_EQ(bench->intervals().size(), 32u);
}

}  // namespace
}  // namespace penstock::lab
