// SPDX-License-Identifier: Apache-2.0
#include "kernels/basic/cuda_launch.cuh"

#include <gtest/gtest.h>

namespace penstock {
namespace {

/// What 0 means depends on how a source is compiled, and kernels are compiled once.
TEST(AKernel, IsNotLaunchedInStreamZero) {
  EXPECT_THROW(own_stream(nullptr), Error);
  for (cudaStream_t const stream : {cudaStreamLegacy, cudaStreamPerThread}) EXPECT_EQ(own_stream(stream), stream);
}

}  // namespace
}  // namespace penstock
