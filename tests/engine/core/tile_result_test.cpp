// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <gmock/gmock.h>

#include "engine/core/pool.hpp"
#include "penstock/elements.hpp"

namespace penstock {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// One tile of three numbers in and two out, which is on loan. It must leave with the tile home.
struct AResult : testing::Test {
  alignas(256) std::array<std::byte, 512> slab{};
  Pool pool{slab, tile_of<std::uint32_t, std::uint16_t>(3, 2), 1};

  Completion completion() {
    Completion done = Completion::done(pool.borrow());
    Tile& tile = *done.loan;
    elements<std::uint32_t>(tile.input())[1] = 7;
    elements<std::uint16_t>(tile.output())[0] = 9;
    tile.filled = 8, tile.produced = 2;
    tile.sequence = 4, tile.tag = 5;
    return done;
  }
  void TearDown() override { EXPECT_EQ(pool.on_loan(), 0u); }
};

TEST_F(AResult, HasWhatWasFilledAndProducedOfATileThatIsDone) {
  Completion done = completion();
  TileResult<std::uint16_t, std::uint32_t> const result(done);
  EXPECT_TRUE(result);
  EXPECT_THAT(result.output(), ElementsAre(9));
  EXPECT_THAT(result.input(), ElementsAre(0, 7));
  EXPECT_EQ(result.sequence(), 4u);
  EXPECT_EQ(result.tag(), 5u);
  EXPECT_EQ(result.failure(), nullptr);
  EXPECT_EQ(result.problem(), "");
}

TEST_F(AResult, RefusesToShowTheOutputOfATileThatFailed) {
  Completion failed = completion();
  failed.outcome = Outcome::failed;
  failed.failure = std::make_shared<Failure const>(Failure{"stage", "No more.", ErrorKind::device_refused});
  TileResult<std::uint16_t> const result(failed);
  EXPECT_FALSE(result);
  EXPECT_EQ(result.problem(), "stage: No more.");
  try {
    static_cast<void>(result.output());
    FAIL() << "it showed an output";
  } catch (Error const& error) {
    EXPECT_THAT(error.what(), HasSubstr("Tile 4 has no output"));
    EXPECT_THAT(error.what(), HasSubstr("No more."));
  }
  EXPECT_THROW(static_cast<void>(result.input()), Error);
}

TEST_F(AResult, SaysWhyACancelledTileHasNoOutput) {
  Completion cancelled = completion();
  cancelled.outcome = Outcome::cancelled;
  TileResult<> const result(cancelled);
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(result.problem(), HasSubstr("cancelled"));
  EXPECT_THROW(static_cast<void>(result.output()), Error);
}

TEST(TileOf, HasAPartForEachType) {
  EXPECT_EQ(tile_of<float>(10), (TileShape{.input_bytes = 40, .output_bytes = 40}));
  EXPECT_EQ((tile_of<float, double>(10, 3)), (TileShape{.input_bytes = 40, .output_bytes = 24}));
  EXPECT_EQ((tile_of<void, float>(10)), (TileShape{.output_bytes = 40}));
  EXPECT_EQ((tile_of<float, void>(10)), (TileShape{.input_bytes = 40}));
  EXPECT_EQ((tile_of<Inputs<float, std::byte, double>, float>(10)),
            (TileShape{.input_bytes = 40, .output_bytes = 40, .more_input_bytes = {10, 80, 0}}));
  EXPECT_THROW(tile_of<double>(std::size_t{1} << 60), Error);
}

/// Two tiles of three parts in a slab of the size that they need.
TEST(APoolOfSeveralInputs, KeepsAllPartsApartAndThoseOfNeighboursSideBySide) {
  constexpr TileShape shape{.input_bytes = 256, .output_bytes = 100, .more_input_bytes = {512, 0, 256}};
  alignas(256) std::array<std::byte, 2 * (256 + 256 + 512 + 256)> slab{};
  ASSERT_EQ(Pool::slab_bytes(shape, 2), slab.size());
  Pool const pool(slab, shape, 2);
  std::vector<std::span<std::byte>> parts;
  for (std::size_t i = 0; i < 2; ++i) {
    Tile const& tile = pool.tile(i);
    parts.insert(parts.end(), {tile.input(0), tile.input(1), tile.input(2), tile.input(3), tile.output()});
    EXPECT_EQ(tile.input(1).size(), 512u);
    EXPECT_TRUE(tile.input(2).empty());
  }
  for (auto const part : parts) {
    for (std::byte& byte : part) {
      EXPECT_EQ(byte, std::byte{0}) << "two parts share it";
      byte = std::byte{1};
    }
  }
  for (std::size_t const which : {0U, 1U, 3U}) {
    auto const first = pool.tile(0).input(which);
    EXPECT_EQ(first.data() + first.size(), pool.tile(1).input(which).data());
  }
}

}  // namespace
}  // namespace penstock
