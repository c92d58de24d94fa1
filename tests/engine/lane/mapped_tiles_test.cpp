// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "engine/lane/lane.hpp"
#include "engine/lane/path_chooser.hpp"
#include "engine/machine/slab.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

/// Two tiles in memory that is not pinned, unless a test pins it. All must come home.
struct TilesOfPlainMemory : testing::Test {
  static constexpr TileShape shape{.input_bytes = 4096, .output_bytes = 4096};
  cpu::CpuDevice device;
  Slab slab{Pool::slab_bytes(shape, 2), std::nullopt, 1};
  Pool pool{slab.bytes(), shape, 2};
  void TearDown() override { EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home"; }

  /// Returns why a tile of a lane with this transport fails; empty if it does not.
  std::string failure_with(Transport transport) {
    std::string why;
    Lane lane(device, shape, 2, {.flight = {.transport = transport}}, 0,
              on_device([](DeviceTile const&, StreamRef) { return std::size_t{0}; }, {.reads_once = true}),
              [&](Completion completion) {
                if (completion.failure != nullptr) why = completion.failure->reason;
                completion.loan.give_back();
              });
    Loan loan = pool.borrow();
    EXPECT_TRUE(lane.submit(loan));
    lane.close();
    EXPECT_EQ(lane.summary().mapped, 0u);
    return why;
  }
};

TEST_F(TilesOfPlainMemory, AreNotSeenByADevice) {
  MappedTiles tiles(device, 2);
  Loan const loan = pool.borrow();
  EXPECT_FALSE(tiles.find(*loan));
}

TEST_F(TilesOfPlainMemory, AreSeenOncePinned) {
  Pinned const pinned = device.pin(slab.bytes());
  MappedTiles tiles(device, 2);
  Loan const loan = pool.borrow();
  auto const parts = tiles.find(*loan);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->input.data(), loan->input().data());
  EXPECT_EQ(parts->output.size(), loan->output().size());
}

/// Seen to fail if their numbers are not looked at.
TEST_F(TilesOfPlainMemory, AreNotSeenBeyondTheNumberThatALaneKnows) {
  Pinned const pinned = device.pin(slab.bytes());
  MappedTiles tiles(device, 1);
  std::array<Loan, 2> const loans{pool.borrow(), pool.borrow()};
  std::size_t seen = 0;
  for (Loan const& loan : loans) seen += tiles.find(*loan).has_value() ? 1U : 0U;
  EXPECT_EQ(seen, 1u);
}

/// Each alone is more than what is mapped at once elsewhere, and together they are far more.
struct LargePinnedTiles : testing::Test {
  static constexpr TileShape shape{.input_bytes = 2 * most_mapped_bytes, .output_bytes = 2 * most_mapped_bytes};
  static constexpr std::size_t tiles = 4;
  cpu::CpuDevice device;
  Slab slab{Pool::slab_bytes(shape, tiles), std::nullopt, 1};
  Pool pool{slab.bytes(), shape, tiles};
  void TearDown() override { EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home"; }

  /// Twenty of them through a lane that is left to itself.
  LaneSummary run(Promises promises, Transport transport) {
    Lane lane(device, shape, tiles, {.flight = {.transport = transport}, .batch = 2}, 0,
              on_device([](DeviceTile const& tile, StreamRef) { return tile.output.size(); }, promises),
              [](Completion completion) { EXPECT_TRUE(completion.ok()); });
    for (int i = 0; i < 20; ++i) {
      Loan loan = pool.borrow();
      loan->filled = shape.input_bytes;
      EXPECT_TRUE(lane.submit(loan));
    }
    lane.close();
    return lane.summary();
  }
};

TEST_F(LargePinnedTiles, AreAllMappedOnTheCpuDeviceIfTheStagePassesOnce) {
  Pinned const pinned = device.pin(slab.bytes());
  LaneSummary const did = run({.reads_once = true}, Transport::automatic);
  EXPECT_EQ(did.mapped, 20u);
  EXPECT_EQ(did.copies, 0u);
}

TEST_F(LargePinnedTiles, AreCopiedIfThatIsAskedForOrTheStagePromisesNothing) {
  Pinned const pinned = device.pin(slab.bytes());
  EXPECT_EQ(run({.reads_once = true}, Transport::copies).mapped, 0u);
  EXPECT_EQ(run({}, Transport::automatic).mapped, 0u);
}

TEST_F(TilesOfPlainMemory, AreCopiedUnlessTheyAreToBeMapped) {
  EXPECT_EQ(failure_with(Transport::automatic), "");
  EXPECT_EQ(failure_with(Transport::copies), "");
  EXPECT_THAT(failure_with(Transport::mapped), HasSubstr("pin the pool"));
}

}  // namespace
}  // namespace penstock
