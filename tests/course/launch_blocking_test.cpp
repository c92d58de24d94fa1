// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <gtest/gtest.h>

#include "course/experiment.hpp"
#include "course/judgements.hpp"
#include "engine/cpu/cpu_device.hpp"

namespace penstock::lab {
namespace {

TEST(AVerdictOnBlockingLaunches, WantsBothKernelsOverOrNeither) {
  EXPECT_TRUE(verdict_on_blocking({.wanted = true, .over = 2, .together = false}).as_expected);
  EXPECT_TRUE(verdict_on_blocking({.wanted = false, .over = 0, .together = true}).as_expected);
  EXPECT_TRUE(verdict_on_blocking({.wanted = true, .over = 1, .together = false}).disproved);
  EXPECT_TRUE(verdict_on_blocking({.wanted = true, .over = 2, .together = true}).disproved);
  EXPECT_FALSE(verdict_on_blocking({.wanted = false, .over = 1, .together = true}).as_expected);
  EXPECT_FALSE(verdict_on_blocking({.wanted = false, .over = 0, .together = false}).as_expected);
  EXPECT_FALSE(verdict_on_blocking({.wanted = false}).disproved) << "a busy host can be too late for it";
  EXPECT_EQ(verdict_on_blocking({.wanted = true, .over = 2}).fact,
            "with CUDA_LAUNCH_BLOCKING=1 2 of 2 kernels were over when their launch returned, and they did not run at "
            "once");
}

/// A process with that variable, as CUDA programs are started to find the launch that fails.
struct BlockingLaunches : testing::Test {
  explicit BlockingLaunches(char const* value = "1") { setenv("CUDA_LAUNCH_BLOCKING", value, 1); }
  ~BlockingLaunches() override { unsetenv("CUDA_LAUNCH_BLOCKING"); }
};

TEST_F(BlockingLaunches, WaitForTheirKernelsOnTheCpuDevice) {
  cpu::CpuDevice device({.compute_threads = kernels_at_once});
  auto const seen = observe(device, launch_blocking());
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
  EXPECT_EQ(seen.verdict.fact.find("with CUDA_LAUNCH_BLOCKING=1 2 of 2"), 0U) << seen.verdict.fact;
}

TEST_F(BlockingLaunches, ReportTheFailureOfTheirKernels) {
  cpu::CpuDevice device({.compute_threads = 1});
  Stream const stream = device.make_stream();
  EXPECT_NO_THROW(stream.launch(1, [](std::uint32_t) {}));
  try {
    stream.launch(1, [](std::uint32_t) { throw std::runtime_error("it reads where nothing is"); });
    FAIL() << "the launch returned as if all were well";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device_lost);
    EXPECT_NE(std::string(error.what()).find("it reads where nothing is"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace penstock::lab
