// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/expect_fitting.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

/// Returns what is wrong with a stage from that function for tiles of that shape; nothing, if it is one for them.
template <class Body>
std::string problem_of(TileShape const& shape, Body const& body) {
  try {
    expect_fitting(on_device(body).types, shape);
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    return error.what();
  }
  return {};
}

template <class Tile>
auto stage_of() {
  return [](Tile, StreamRef) {};
}

TEST(AStageForOtherTiles, IsRefusedIfItHasMoreInputsThanTheyHave) {
  using TwoInputs = DeviceTileOf<Inputs<float, float>, float>;
  EXPECT_THAT(problem_of(tile_of<float>(8), stage_of<TwoInputs>()), HasSubstr("2 inputs"));
  EXPECT_THAT(problem_of({.input_bytes = 64, .output_bytes = 64}, stage_of<TwoInputs>()), HasSubstr("have 1"));
  EXPECT_EQ(problem_of(tile_of<Inputs<float, float>, float>(8), stage_of<TwoInputs>()), "");
  EXPECT_EQ(problem_of(tile_of<Inputs<float, float>, float>(8), stage_of<DeviceTileOf<float>>()), "");
}

TEST(AStageForOtherTiles, IsRefusedIfItTakesNumbersForOthers) {
  EXPECT_THAT(problem_of(tile_of<float>(8), stage_of<DeviceTileOf<double>>()),
              HasSubstr("the input of a tile for real numbers of 8 bytes"));
  EXPECT_THAT(problem_of(tile_of<std::int32_t>(8), stage_of<DeviceTileOf<float>>()), HasSubstr("whole numbers of 4"));
  EXPECT_THAT(problem_of(tile_of<float, double>(8), stage_of<DeviceTileOf<float>>()), HasSubstr("the output"));
  using Second = DeviceTileOf<Inputs<float, double>, float>;
  EXPECT_THAT(problem_of(tile_of<Inputs<float, float>, float>(8), stage_of<Second>()), HasSubstr("input 2"));
}

/// Views of the same bytes are usual: four floats at once, bytes, another sign.
TEST(AStageForOtherTiles, MayTakeThemForBytesStructuresAndNumbersOfTheSameKind) {
  struct Four {
    std::array<float, 4> values;
  };
  EXPECT_EQ(problem_of(tile_of<float>(8), stage_of<DeviceTileOf<float>>()), "");
  EXPECT_EQ(problem_of(tile_of<float>(8), stage_of<DeviceTileOf<Four>>()), "");
  EXPECT_EQ(problem_of(tile_of<float>(8), stage_of<DeviceTileOf<std::byte>>()), "");
  EXPECT_EQ(problem_of(tile_of<unsigned char>(8), stage_of<DeviceTileOf<double>>()), "");
  EXPECT_EQ(problem_of(tile_of<int>(8), stage_of<DeviceTileOf<unsigned>>()), "");
  EXPECT_EQ(problem_of(tile_of<float, void>(8), stage_of<DeviceTileOf<float, double>>()), "");
  EXPECT_EQ(problem_of(tile_of<double>(8), stage_of<DeviceTile const&>()), "");
  EXPECT_EQ(problem_of({.input_bytes = 64, .output_bytes = 64}, stage_of<DeviceTileOf<double>>()), "");
  EXPECT_EQ(types_of_function<decltype([](auto const&, StreamRef) {})>().inputs, 0U) << "nothing is known of it";
}

/// Says which tiles it takes, as a function does by its parameter.
struct StageOfTwoInputs final : Stage {
  using Takes = DeviceTileOf<Inputs<float, double>, float>;
  explicit StageOfTwoInputs(StageContext const&) {}
  std::size_t run(DeviceTile const&, StreamRef) override { return 0; }
};

/// Seen to fail if nothing compares them: the kernel then finds its second input empty.
TEST(AStageForOtherTiles, IsRefusedIfItsClassSaysSo) {
  cpu::CpuDevice device({.compute_threads = 1});
  Pipeline one(device, {.tile = tile_of<float>(8), .producers = 1, .lanes = 1, .tuning = {.tiles = 2}});
  auto const with = [](Pipeline& pipeline, auto const& fill) {
    return pipeline.run(generate(1, fill), stage_per_lane<StageOfTwoInputs>(), [](Completion&) {});
  };
  EXPECT_THROW(static_cast<void>(with(one, [](TilePlace, std::span<float> all) { return all.size(); })), Error);
  Pipeline two(device,
               {.tile = tile_of<Inputs<float, double>, float>(8), .producers = 1, .lanes = 1, .tuning = {.tiles = 2}});
  EXPECT_TRUE(with(two, [](TilePlace, std::span<float> all, std::span<double>) { return all.size(); }).ok());
}

TEST(ASourceOfOtherTiles, IsRefusedBeforeItIsAsked) {
  cpu::CpuDevice device({.compute_threads = 1});
  Pipeline pipeline(device, {.tile = tile_of<float>(8), .producers = 1, .lanes = 1, .tuning = {.tiles = 2}});
  auto const stage = on_device([](DeviceTileOf<float>, StreamRef) {});
  auto const problem = [&](auto&& source) {
    try {
      static_cast<void>(pipeline.run(source, stage, [](Completion&) {}));
    } catch (Error const& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  int asked = 0;
  auto const count = [&asked](auto const& all) { return ++asked, all.size(); };
  EXPECT_THAT(problem(generate(1, [&](TilePlace, std::span<double> all) { return count(all); })),
              HasSubstr("The source fills the input of a tile for real numbers of 8 bytes"));
  EXPECT_THAT(problem(generate(1, [&](TilePlace, std::span<float> all, std::span<float>) { return count(all); })),
              HasSubstr("The source is one for tiles of 2 inputs"));
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(problem(generate(1, [&](TilePlace, std::span<float> all) { return count(all); })), "");
  EXPECT_EQ(asked, 1);
}

TEST(AStageForOtherTiles, DoesNotGetATileOfThePipeline) {
  cpu::CpuDevice device({.compute_threads = 1});
  Pipeline pipeline(device, {.tile = tile_of<float>(8), .lanes = 1, .tuning = {.tiles = 2}});
  std::atomic<bool> asked{false};  // By several producers.
  auto const fill = [&](TilePlace, std::span<float> input) {
    asked = true;
    return input.size();
  };
  auto const stage = on_device([](DeviceTileOf<Inputs<float, float>, float>, StreamRef) {});
  EXPECT_THROW(static_cast<void>(pipeline.run(generate(4, fill), stage, [](Completion&) {})), Error);
  EXPECT_THROW(pipeline.start(stage, [](Completion&) {}), Error);
  EXPECT_FALSE(asked);
  EXPECT_TRUE(
      pipeline.run(generate(4, fill), on_device([](DeviceTileOf<float>, StreamRef) {}), [](Completion&) {}).ok())
      << "it is fit for another run";
}

}  // namespace
}  // namespace penstock
