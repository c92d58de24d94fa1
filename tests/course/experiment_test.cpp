// SPDX-License-Identifier: Apache-2.0
#include "course/experiment.hpp"

#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"

namespace penstock::lab {
namespace {

using namespace std::chrono_literals;

/// Goes as expected once its kernels, of which it has none, would be 25 ms long. Says how long they would be.
Experiment patient(Claim claim) {
  return {.name = "patient", .expectation = "", .why = "", .claim = claim, .run = [](Workbench& bench) -> Observation {
            return {{}, {}, {bench.kernel_time() >= 25ms, time_text(bench.kernel_time())}};
          }};
}

struct AnExperiment : testing::Test {
  Verdict verdict_on(Claim claim, std::chrono::nanoseconds kernel_time) {
    WorkbenchOptions options;
    options.kernel_time = kernel_time;
    return observe(device, patient(claim), options).verdict;
  }
  cpu::CpuDevice device{{.compute_threads = 1}};
};

TEST_F(AnExperiment, OnWhatMayHappenIsTriedFiveTimesWithLongerKernels) {
  auto const verdict = verdict_on(Claim::may, 100us);
  EXPECT_TRUE(verdict.as_expected);
  EXPECT_EQ(verdict.fact, "25.6 ms");
}

TEST_F(AnExperiment, IsNotTriedForEver) {
  auto const verdict = verdict_on(Claim::may, 10us);
  EXPECT_FALSE(verdict.as_expected);
  EXPECT_EQ(verdict.fact, "2.56 ms");
}

TEST_F(AnExperiment, HasNoKernelsThatAGpuWithAScreenWouldEnd) {
  auto hopeless = patient(Claim::may);
  hopeless.run = [](Workbench& bench) -> Observation { return {{}, {}, {false, time_text(bench.kernel_time())}}; };
  EXPECT_EQ(observe(device, hopeless).verdict.fact, "800 ms");
}

TEST_F(AnExperiment, OnWhatMustHappenIsTriedOnce) {
  auto const verdict = verdict_on(Claim::must, 4ms);
  EXPECT_FALSE(verdict.as_expected);
  EXPECT_EQ(verdict.fact, "4.00 ms");
}

TEST_F(AnExperiment, IsTriedNoMoreOnceItWentAsExpected) {
  EXPECT_EQ(verdict_on(Claim::may, 30ms).fact, "30.0 ms");
}

TEST_F(AnExperiment, IsTriedNoMoreOnceItIsDisproved) {
  auto wrong = patient(Claim::may);
  wrong.run = [](Workbench& bench) -> Observation {
    return {{}, {}, certainly({false, time_text(bench.kernel_time())})};
  };
  EXPECT_EQ(observe(device, wrong).verdict.fact, "20.0 ms");
}

}  // namespace
}  // namespace penstock::lab
