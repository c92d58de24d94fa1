// SPDX-License-Identifier: Apache-2.0
#include "engine/named_devices/gpu_code.hpp"

#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace penstock {
namespace {

bool runs(std::string_view capability, std::string_view architectures) {
  return missing_gpu_code("cuda:0", capability, architectures).empty();
}

TEST(CodeForAGpu, SaysWhichArchitectureTheBuildLacks) {
  EXPECT_EQ(
      missing_gpu_code("cuda:1 (NVIDIA A100)", "8.0", "90"),
      "cuda:1 (NVIDIA A100) has compute capability 8.0, and this build of penstock has kernels for 90 alone: build "
      "it with -DCMAKE_CUDA_ARCHITECTURES=80, or use --device cpu (open_device(\"cpu\")).");
}

TEST(CodeForAGpu, IsBinaryOfTheSameMajorNumberAndNoLaterMinorOne) {
  EXPECT_TRUE(runs("9.0", "90-real"));
  EXPECT_TRUE(runs("8.6", "80-real"));
  EXPECT_FALSE(runs("8.0", "86-real"));
  EXPECT_FALSE(runs("10.0", "90-real"));
  EXPECT_FALSE(runs("7.5", "80-real,90-real"));
  EXPECT_TRUE(runs("12.1", "90-real,120-real"));
}

TEST(CodeForAGpu, IsPtxOfAnyEarlierArchitecture) {
  EXPECT_TRUE(runs("10.0", "90"));
  EXPECT_TRUE(runs("12.0", "80-virtual"));
  EXPECT_FALSE(runs("8.9", "90-virtual"));
  EXPECT_TRUE(runs("12.0", "75-real,80-real,90-virtual"));
}

TEST(CodeForAGpu, MayBeLimitedToOneArchitectureOrItsFamily) {
  EXPECT_TRUE(runs("9.0", "90a"));
  EXPECT_FALSE(runs("10.0", "90a"));
  EXPECT_FALSE(runs("10.3", "100a-virtual"));
  EXPECT_TRUE(runs("10.3", "100f"));
  EXPECT_FALSE(runs("12.0", "100f-real"));
}

TEST(CodeForAGpu, IsNotMissedWhereTheBuildDoesNotSay) {
  for (std::string_view const unknown : {"", "native", "all", "all-major", "90-other"})
    EXPECT_TRUE(runs("8.0", unknown));
  for (std::string_view const none : {"", "8", "8.", "x.y"}) EXPECT_TRUE(runs(none, "90"));
}

}  // namespace
}  // namespace penstock
