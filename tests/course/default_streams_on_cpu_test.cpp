// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <gtest/gtest.h>

#include "course/experiment.hpp"
#include "engine/cpu/cpu_device.hpp"

namespace penstock::lab {
namespace {

TEST(LegacyStreamOfOneDevice, IsThroughBesideABlockingStreamOfAnother) {
  cpu::CpuDevice first{{.ordinal = 0, .compute_threads = 4}}, second{{.ordinal = 1, .compute_threads = 4}};
  Observation const seen = observe(DeviceGroup{&first, &second}, legacy_elsewhere());
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
  EXPECT_EQ(seen.verdict.fact,
            "the kernel in the legacy stream was through while a blocking stream of another device ran");
}

/// Both streams are of one device there, so they take turns.
TEST(LegacyStreamOfOneDevice, WaitsForABlockingStreamOfItsOwn) {
  cpu::CpuDevice device{{.compute_threads = 4}};
  Workbench bench(DeviceGroup{&device, &device}, {.kernel_time = std::chrono::milliseconds(1)});
  Observation const seen = legacy_elsewhere().run(bench);
  EXPECT_FALSE(seen.verdict.as_expected) << seen.verdict.fact;
}

}  // namespace
}  // namespace penstock::lab
