// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/tile_memory.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "support/mapped_file.hpp"
#include "support/says_it_is_a_gpu.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

using support::MappedFile;
using support::SaysItIsAGpu;

/// Eight tiles in memory of the application's own, of which they take a half, for a GPU and a CPU device.
struct TilesInOwnMemory : testing::Test {
  MappedFile file{16 * 4096};
  Topology const topology = Topology::from_synthetic("core:4 pu:1");
  SaysItIsAGpu gpu;
  cpu::CpuDevice cpu{{.compute_threads = 1}};
  std::vector<Device*> const devices{&gpu, &cpu};
  PipelineOptions options{.tile = {.input_bytes = 4096, .output_bytes = 4096, .in_place = true},
                          .lanes = 2,
                          .own_memory = {file.bytes()},
                          .tuning = {.tiles = 8}};
  std::optional<TileMemory> memory;

  void make() {
    memory.emplace(PoolLayout({std::nullopt, std::nullopt}, options, topology), options, topology, devices,
                   std::stop_token());
  }
};

TEST_F(TilesInOwnMemory, ArePinnedForEachKindOfDeviceAndUnpinnedAtTheEnd) {
  make();
  EXPECT_EQ(memory->parts().front().slab.data(), file.bytes().data());
  EXPECT_EQ(memory->bytes(), 8u * 4096) << "what is not needed is not pinned";
  EXPECT_EQ(memory->placed().front().pages.absent, 0u) << "all pages are present";
  EXPECT_EQ(gpu.pins(), 1u);
  EXPECT_EQ(cpu.outstanding().pins, 1u);
  EXPECT_EQ(cpu.outstanding().pinned_bytes, 8u * 4096);
  EXPECT_THAT(memory->remarks(), testing::IsEmpty());
  memory.reset();
  EXPECT_EQ(gpu.pins(), 0u);
  EXPECT_EQ(cpu.outstanding(), cpu::Outstanding{});
  std::ranges::fill(file.bytes(), std::byte{1});  // It is still there.
}

/// Seen to fail where the destructor unpinned all.
TEST_F(TilesInOwnMemory, StayPinnedForAGpuThatWasGivenUp) {
  make();
  gpu.abandon(Error(ErrorKind::device_lost, "It does not end."));
  EXPECT_THAT(memory->remarks(), testing::ElementsAre(testing::HasSubstr("keep it mapped")));
  memory.reset();
  EXPECT_EQ(gpu.pins(), 1u) << "to unpin would wait for it";
  EXPECT_EQ(cpu.outstanding(), cpu::Outstanding{});
}

TEST_F(TilesInOwnMemory, AreRefusedWhereAPageCannotBeWritten) {
  ASSERT_EQ(mprotect(file.bytes().data() + 4096, 4096, PROT_READ), 0);
  EXPECT_THROW(make(), Error);
  EXPECT_EQ(gpu.pins(), 0u);
}

TEST_F(TilesInOwnMemory, AreRefusedIfTheyArePinnedAlready) {
  Pinned const pinned = cpu.pin(file.bytes().first(4096));
  EXPECT_THROW(make(), Error);
  EXPECT_EQ(gpu.pins(), 0u) << "what was pinned before the refusal is not";
}

}  // namespace
}  // namespace penstock
