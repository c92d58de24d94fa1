// SPDX-License-Identifier: Apache-2.0
#include "course/part_work.hpp"

#include <optional>

#include <gtest/gtest.h>

#include "course/wrong_device.hpp"
#include "engine/cpu/cpu_device.hpp"

namespace penstock::lab {
namespace {

using namespace std::chrono_literals;

struct PartsOnTheCpuDevice : testing::Test {
  void TearDown() override { EXPECT_EQ(device.outstanding(), cpu::Outstanding{}); }
  cpu::CpuDevice device{{.compute_threads = 2}};
};

TEST_F(PartsOnTheCpuDevice, ComeBackAsTheyWent) {
  Workbench bench(device);
  PartWork work(bench, 3, 5000, 0ns);
  {
    Stream const stream = device.make_stream();
    for (std::size_t part = 0; part < 2; ++part) work.issue("row", part, stream);
    stream.synchronize();
  }
  EXPECT_EQ(work.wrong(), 1u) << "the third was never issued";
  work.renew();
  EXPECT_EQ(work.wrong(), 3u) << "what they bring is old";
}

TEST_F(PartsOnTheCpuDevice, AreTimedStepByStep) {
  Workbench bench(device, {.kernel_time = 0ns});
  PartWork work(bench, 2, 4096, 2ms);
  auto const alone = work.alone();
  EXPECT_GE(alone.kernel, 2ms);
  EXPECT_GT(alone.up, 0ns);
  EXPECT_GT(alone.down, 0ns);
}

TEST_F(PartsOnTheCpuDevice, AreCutDownToWhatFits) {
  Workbench bench(device, {.kernel_time = 0ns});
  auto const large = scaled_to_fit(bench, {1s, 2s, 1s}, 1'000'000);
  EXPECT_LE(large.bytes, 1'000'000u);
  EXPECT_EQ(large.times.kernel, std::chrono::nanoseconds(2s) / large.divisor);
  EXPECT_EQ(scaled_to_fit(bench, {1ns, 2ns, 1ns}, 1'000'000).divisor, 1);
}

TEST_F(PartsOnTheCpuDevice, AreCopiedByEnginesThatTakeWhatIsReady) {
  Workbench bench(device, {.kernel_time = 1s});
  auto const engines = copy_engines_of(bench);
  EXPECT_TRUE(engines.known);
  EXPECT_FALSE(engines.in_order_of_issue);
}

/// Seen to fail if a try counts in which the host was late: the order of copies would then be judged by it.
TEST_F(PartsOnTheCpuDevice, AreNotSaidToEndTogetherWhereTheHostWasLate) {
  auto const late = [this](KernelWish const& wish, Stamp*, StreamRef) {
    if (wish.label == "kernel") device.synchronize();  // Waits until the hold is over.
  };
  Workbench bench(device, {.kernel_time = 1ms, .launch = late});
  EXPECT_EQ(kernels_end_together(bench), std::nullopt);
}

TEST(CopiesOfADeviceWithOneStream, GoInOrderOfIssue) {
  support::WrongDevice device({.one_stream = true});
  Workbench bench(device, {.kernel_time = 10ms});
  EXPECT_TRUE(copy_engines_of(bench).in_order_of_issue);
}

}  // namespace
}  // namespace penstock::lab
