// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "support/mapped_file.hpp"
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using support::MappedFile;

/// Seen to fail where a page less was needed.
TEST(MemoryNeeded, IsEnoughIfItIsAsMuchAsIsNeeded) {
  cpu::CpuDevice device{{.compute_threads = 1}};
  PipelineOptions wanted{
      .tile = {.input_bytes = 4096}, .producers = 2, .lanes = 2, .consumers = 1, .tuning = {.batch = 1, .slots = 8}};
  std::vector<MemoryNeeded> const needed = memory_needed(device, wanted);
  ASSERT_EQ(needed.size(), 1u);
  EXPECT_EQ(needed.front().bytes, needed.front().tiles * 4096);
  MappedFile enough(needed.front().bytes);
  wanted.own_memory = {enough.bytes()};
  Pipeline pipeline(device, wanted);
  EXPECT_EQ(pipeline.options().tuning.tiles, needed.front().tiles);
}

}  // namespace
}  // namespace penstock
