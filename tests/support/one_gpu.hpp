// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "support/cuda_kernels.hpp"
#include <gtest/gtest.h>

#include "engine/cuda/cuda_device.hpp"
#include "engine/cuda/probe.hpp"

namespace penstock::support {

/// The first GPU, fresh; the test is skipped if there is none. It must be in good health afterwards, and no unread
/// refusal may be left.
struct OneGpu : testing::Test {
  void SetUp() override {
    let_many_streams_run_at_once();
    if (auto const verdict = cuda::probe(); !verdict.usable()) GTEST_SKIP() << verdict.sentence;
    gpu.emplace();
  }
  void TearDown() override {
    if (!gpu) return;
    gpu->synchronize();
    kernels.give_back();
    EXPECT_FALSE(gpu->lost());
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  }

  std::optional<cuda::CudaDevice> gpu;
  CudaKernels kernels;
};

}  // namespace penstock::support
