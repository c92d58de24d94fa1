// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <cstdint>
#include <latch>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

/// A pipeline of tiles of 1000 numbers, which its stage leaves as they are. It must leave with all tiles home.
struct APipelineOfNumbers : testing::Test {
  static constexpr std::size_t bytes = 1000 * sizeof(std::uint32_t);
  cpu::CpuDevice device;
  Pipeline pipeline{
      device,
      {.tile = {.input_bytes = bytes}, .producers = 2, .ordered = true, .tuning = {.tiles = 8, .bind = Bind::none}}};
  Stages const stage = on_device([](DeviceTile const&, StreamRef) {});
  std::vector<std::vector<std::uint32_t>> came;
  std::vector<std::string> failed_in;
  Sink const sink = [this](Completion& completion) {
    if (!completion.ok()) return failed_in.push_back(completion.failure->stage);
    auto const numbers = elements<std::uint32_t>(completion.loan->filled_input());
    came.emplace_back(numbers.begin(), numbers.end());
  };

  void TearDown() override { EXPECT_EQ(pipeline.pool().on_loan(), 0u); }
};

TEST_F(APipelineOfNumbers, FillsEachGeneratedTileByItsPlace) {
  auto const fill = [](std::uint64_t index, std::span<std::uint32_t> room) {
    EXPECT_EQ(room.size(), 1000u);
    std::iota(room.begin(), room.begin() + 10, static_cast<std::uint32_t>(100 * index));
    return std::size_t{10} - (index == 19 ? 7 : 0);
  };
  Report const report = pipeline.run(generate<std::uint32_t>(20, fill), stage, sink);
  EXPECT_TRUE(report.ok()) << describe(report);
  ASSERT_EQ(came.size(), 20u);
  for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(came[i].front(), 100 * i);
  EXPECT_EQ(came[18].size(), 10u);
  EXPECT_THAT(came[19], testing::ElementsAre(1900, 1901, 1902));
}

/// It hangs if one fills at a time.
TEST_F(APipelineOfNumbers, FillsSeveralGeneratedTilesAtOnce) {
  std::latch both(2);
  auto const fill = [&](std::uint64_t, std::span<std::byte> room) {
    both.arrive_and_wait();
    return room.size();
  };
  EXPECT_TRUE(pipeline.run(generate(2, fill), stage, sink).ok());
}

TEST_F(APipelineOfNumbers, FailsTheTileThatAGeneratorThrowsAtOrOverfills) {
  auto const fill = [](std::uint64_t index, std::span<std::byte> room) -> std::size_t {
    if (index == 1) throw std::runtime_error("no number 1");
    return index == 3 ? room.size() + 1 : room.size();
  };
  Report const report = pipeline.run(generate(5, fill), stage, sink);
  EXPECT_EQ(report.tiles_done, 3u);
  EXPECT_EQ(report.tiles_failed, 2u);
  EXPECT_THAT(failed_in, testing::ElementsAre("source", "source"));
}

TEST_F(APipelineOfNumbers, TellsAGeneratorWhereItsTileBegins) {
  auto const fill = [](TilePlace place, std::span<std::uint32_t> room) {
    room[0] = static_cast<std::uint32_t>(place.offset);
    return std::size_t{1};
  };
  EXPECT_TRUE(pipeline.run(generate(3, fill), stage, sink).ok());
  EXPECT_THAT(came,
              testing::ElementsAre(testing::ElementsAre(0), testing::ElementsAre(1000), testing::ElementsAre(2000)));
}

TEST_F(APipelineOfNumbers, CallsASerialSourceOneAtATime) {
  std::atomic<int> inside{0};
  auto const read = [&, given = 0](Tile& tile) mutable -> std::optional<std::size_t> {
    EXPECT_EQ(inside++, 0) << "two producers at once";
    elements<std::uint32_t>(tile.input())[0] = static_cast<std::uint32_t>(given);
    --inside;
    return given++ == 20 ? std::nullopt : std::optional(sizeof(std::uint32_t));
  };
  EXPECT_TRUE(pipeline.run(serial(read), stage, sink).ok());
  ASSERT_EQ(came.size(), 20u);
  for (std::uint32_t i = 0; i < 20; ++i) EXPECT_THAT(came[i], testing::ElementsAre(i));
}

TEST_F(APipelineOfNumbers, GeneratesNothingIfNoTileIsAskedFor) {
  Report const report = pipeline.run(generate(0, [](std::uint64_t, std::span<std::byte>) { return 1u; }), stage, sink);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.tiles(), 0u);
}

TEST(Elements, AreAsManyAsThereAreWholeOnes) {
  alignas(8) std::array<std::byte, 19> bytes{};
  EXPECT_EQ(elements<std::uint32_t>(std::span<std::byte>(bytes)).size(), 4u);
  EXPECT_TRUE(elements<double>(std::span<std::byte>()).empty());
  elements<std::uint64_t>(std::span<std::byte>(bytes))[1] = 7;
  EXPECT_EQ(elements<std::uint64_t>(std::span<std::byte const>(bytes))[1], 7u);
}

TEST(Elements, BeginWhereTheyMay) {
  alignas(8) std::array<std::byte, 16> bytes{};
  EXPECT_THROW(elements<std::uint32_t>(std::span<std::byte>(bytes).subspan(2)), Error);
  EXPECT_NO_THROW(elements<std::uint16_t>(std::span<std::byte>(bytes).subspan(2)));
}

}  // namespace
}  // namespace penstock
