// SPDX-License-Identifier: Apache-2.0
// Promises of a pipeline for tiles in the application's own memory.
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>

#include "support/mapped_file.hpp"

#include "engine/core/pool.hpp"
#include "engine/flow/pipeline_contract.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using support::MappedFile;

/// Finds the tile's output in its file by the other mapping, and notes the byte that it is full of there.
Sink read_elsewhere(MappedFile const& file, std::map<std::uint64_t, std::byte>& seen) {
  return [&](Completion& completion) {
    Tile const& tile = *completion.loan;
    ASSERT_EQ(completion.outcome, Outcome::done);
    auto const there = file.elsewhere().subspan(static_cast<std::size_t>(tile.output().data() - file.bytes().data()),
                                                tile.output().size());
    seen[tile.sequence] = there.front();
    EXPECT_EQ(std::ranges::count(there, there.front()), static_cast<std::ptrdiff_t>(there.size()));
  };
}

TEST_P(PipelineContract, HasItsTilesInMemoryThatAnotherMappingSees) {
  constexpr std::uint64_t tiles = 40;
  for (Transport const transport : {Transport::automatic, Transport::copies}) {
    MappedFile file(16 * tile_bytes);
    PipelineOptions options = usual();
    options.consumers = 1;
    options.tuning.transport = transport;
    options.own_memory = {file.bytes()};
    Pipeline& pipeline = open(options);
    std::map<std::uint64_t, std::byte> seen;
    for (int again = 0; again < 2; ++again) {
      CountingSource source(tiles);
      Report const report = pipeline.run(source, add_one(), read_elsewhere(file, seen));
      EXPECT_TRUE(report.ok()) << describe(report);
      EXPECT_EQ(report.pool_bytes, 8 * tile_bytes);
      EXPECT_EQ(report.pool_tiles, 8u);
      EXPECT_NE(report.placement.find("Pages: 32 KiB"), std::string::npos) << report.placement;
    }
    ASSERT_EQ(seen.size(), tiles);
    for (auto const& [sequence, byte] : seen) EXPECT_EQ(byte, static_cast<std::byte>(sequence + 1));
    // The file is to outlive it.
    destroy_pipeline();
    open();
  }
}

TEST_P(PipelineContract, UnpinsTheApplicationsMemoryAndLeavesItMapped) {
  MappedFile file(8 * tile_bytes);
  PipelineOptions options = usual();
  options.own_memory = {file.bytes()};
  open(options);
  destroy_pipeline();
  EXPECT_NO_THROW(static_cast<void>(device().pin(file.bytes())));
  std::ranges::fill(file.bytes(), std::byte{1});
  open();
}

TEST_P(PipelineContract, RefusesMemoryThatIsPinnedAlready) {
  MappedFile file(8 * tile_bytes);
  Pinned const pinned = device().pin(file.bytes());
  PipelineOptions options = usual();
  options.own_memory = {file.bytes()};
  try {
    Pipeline const refused(device(), options);
    ADD_FAILURE() << "it was taken";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    EXPECT_NE(std::string(error.what()).find("is pinned already"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(device().lost());
  open();
}

TEST_P(PipelineContract, HasItsTilesInHugePagesOfTheApplication) {
  std::optional<MappedFile> file;
  try {
    file.emplace(std::size_t{2} << 20, MFD_HUGETLB);
  } catch (std::runtime_error const&) {
    open();
    GTEST_SKIP() << "the system has no huge pages reserved";
  }
  PipelineOptions options = usual();
  options.consumers = 1;
  options.own_memory = {file->bytes()};
  std::map<std::uint64_t, std::byte> seen;
  CountingSource source(20);
  EXPECT_TRUE(open(options).run(source, add_one(), read_elsewhere(*file, seen)).ok());
  EXPECT_EQ(seen.size(), 20u);
  destroy_pipeline();
  open();
}

}  // namespace
}  // namespace penstock
