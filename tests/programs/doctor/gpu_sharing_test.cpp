// SPDX-License-Identifier: Apache-2.0
#include "programs/doctor/gpu_sharing.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

/// A stand-in for a driver with one GPU.
struct GpuThatCanBeShared : testing::Test {
  ~GpuThatCanBeShared() override {
    for (char const* const name : {"STAND_IN_MPS", "STAND_IN_GREEN", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"})
      unsetenv(name);
  }
  static GpuSharing asked(char const* gpu = "0000:1b:00.0") { return gpu_sharing(gpu, STAND_IN_DRIVER); }
};

TEST_F(GpuThatCanBeShared, IsNotSharedByDefault) {
  EXPECT_EQ(describe(asked()), "MPS is off, no green contexts");
}

TEST_F(GpuThatCanBeShared, IsSharedByMpsUpToAPartOfIt) {
  setenv("STAND_IN_MPS", "1", 1);
  EXPECT_EQ(describe(asked()), "MPS is on, no green contexts");
  setenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "25", 1);
  EXPECT_EQ(describe(asked()), "MPS is on with 25 % of the multiprocessors, no green contexts");
}

TEST_F(GpuThatCanBeShared, HasGreenContextsOfAnyDriverThatKnowsThem) {
  setenv("STAND_IN_GREEN", "8", 1);
  EXPECT_EQ(describe(asked()), "MPS is off, green contexts of 8 multiprocessors or more");
  setenv("STAND_IN_GREEN", "0", 1);
  EXPECT_EQ(describe(asked()), "MPS is off, green contexts");
}

TEST_F(GpuThatCanBeShared, IsNotKnownWithoutItOrItsDriver) {
  EXPECT_EQ(describe(asked("0000:1c:00.0")), "");
  EXPECT_EQ(describe(gpu_sharing("0000:1b:00.0", "libno-such-driver.so.1")), "");
}

}  // namespace
}  // namespace penstock::cli
