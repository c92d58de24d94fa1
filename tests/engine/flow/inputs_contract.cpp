// SPDX-License-Identifier: Apache-2.0
// Promises of a pipeline for tiles that have several inputs.
#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "engine/flow/pipeline_contract.hpp"
#include "penstock/elements.hpp"
#include "penstock/observe.hpp"

namespace penstock {
namespace {

constexpr std::size_t inputs = 3;
constexpr std::size_t count = std::size_t{64} << 10;
using Bytes = Inputs<std::byte, std::byte, std::byte>;

PipelineOptions with_inputs(PipelineOptions options) {
  options.tile = tile_of<Bytes, std::uint64_t>(count, inputs);
  return options;
}

/// Brings back the sum of the bytes of each input.
Stages sums_of(support::Kernels const& kernels, Promises promises = {}) {
  return on_device(
      [&kernels](DeviceTile const& tile, StreamRef stream) {
        auto const sum = [&](std::size_t which, DeviceSpan<std::byte const> input) {
          auto const to = tile.output.subspan(which * sizeof(std::uint64_t), sizeof(std::uint64_t));
          auto const bytes = static_cast<std::uint32_t>(input.size());
          kernels.sum_each(stream, RecordTable(1, bytes), input, RecordTable(1, sizeof(std::uint64_t)), to);
        };
        sum(0, tile.input);
        for (std::size_t more = 0; more + 1 < inputs; ++more) sum(more + 1, tile.more_inputs[more]);
      },
      promises);
}

/// Fills the inputs of a tile with bytes that no other input and no tile near it has, the later ones with as many.
std::size_t fill(TilePlace tile, std::span<std::byte> a, std::span<std::byte> b, std::span<std::byte> c) {
  auto const number = static_cast<unsigned>(tile.index % 50);
  std::ranges::fill(a, static_cast<std::byte>(number));
  std::ranges::fill(b, static_cast<std::byte>(50 + number));
  std::ranges::fill(c, static_cast<std::byte>(100 + number));
  return a.size() - tile.index % 2;
}

/// Counts the tiles that have the sums of what `fill` put there.
Sink count_right(std::size_t& right) {
  return [&right](TileResult<std::uint64_t> tile) {
    ASSERT_TRUE(tile.ok()) << tile.problem();
    std::uint64_t const number = tile.sequence() % 50, bytes = count - tile.sequence() % 2;
    right +=
        std::ranges::equal(tile.output(), std::array{number * bytes, (50 + number) * bytes, (100 + number) * bytes});
  };
}

TEST_P(PipelineBySignal, StartsTheStageOnceAllInputsOfATileAreOnTheDevice) {
  constexpr std::uint64_t tiles = 24;
  for (unsigned const batch : {1U, 2U}) {
    for (Promises const promises : {Promises{}, Promises{.reads_once = true}, Promises{.capturable = true}}) {
      PipelineOptions options = with_inputs(usual());
      if (!options.tuning.run_to_completion) {
        options.tuning.batch = batch;
        options.tuning.slots = 2 * batch;
      }
      PipelineWorld::open(options);
      std::size_t right = 0;
      Report const report = pipeline().run(generate(tiles, &fill), sums_of(kernels(), promises), count_right(right));
      EXPECT_TRUE(report.ok()) << describe(report);
      EXPECT_EQ(right, tiles) << "batches of " << batch;
      EXPECT_EQ(report.bytes_in, inputs * (tiles * count - tiles / 2));
    }
  }
}

TEST_P(PipelineContract, TellsARecorderWhenEachInputWasUploaded) {
  constexpr std::uint64_t tiles = 20;
  Recorder recorder({.capacity = 1 << 14});
  PipelineOptions options = with_inputs(usual());
  options.watching.recorder = &recorder;
  open(options);
  std::size_t right = 0;
  EXPECT_TRUE(pipeline().run(generate(tiles, &fill), sums_of(kernels()), count_right(right)).ok());
  Recording const seen = recorder.take();
  std::map<std::uint64_t, std::vector<std::string>> uploads;
  std::map<std::uint64_t, std::int64_t> uploaded, computed_from;
  for (Passage const& passage : seen.passages) {
    if (passage.step == Step::stage) computed_from[passage.tile] = passage.begin;
    if (passage.step != Step::upload) continue;
    std::string const& row = seen.rows[passage.row].name;
    uploads[passage.tile].push_back(row.substr(row.find("upload")));
    uploaded[passage.tile] = std::max(uploaded[passage.tile], passage.end);
  }
  ASSERT_EQ(uploads.size(), tiles);
  for (auto& [tile, rows] : uploads) {
    std::ranges::sort(rows);
    EXPECT_EQ(rows, (std::vector<std::string>{"upload", "upload 2", "upload 3"})) << "tile " << tile;
    EXPECT_GE(computed_from[tile], uploaded[tile]) << "tile " << tile;
  }
}

TEST_P(PipelineContract, RefusesATileThatClaimsMoreOfALaterInputThanItHolds) {
  open(with_inputs(usual()));
  std::size_t right = 0;
  pipeline().start(sums_of(kernels()), count_right(right));
  Loan loan = pipeline().feed().borrow();
  loan->more_filled[1] = count + 1;
  try {
    pipeline().feed().try_submit(loan);
    ADD_FAILURE() << "it was taken";
  } catch (Error const& error) {
    EXPECT_NE(std::string(error.what()).find("a tile's third input"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(loan) << "it is still the caller's";
  loan->more_filled[1] = 0;
  EXPECT_TRUE(pipeline().feed().try_submit(loan));
  loan = pipeline().feed().borrow();
  EXPECT_EQ(loan->all_filled(), 0u) << "a tile forgets what filled it before";
  loan.give_back();
  EXPECT_EQ(pipeline().drain().tiles(), 1u);
}

TEST_P(PipelineContract, FailsATileOfWhichTheSourceOverfillsALaterInput) {
  class Overfills final : public Source {
   public:
    bool next(Tile& tile) override { return tile.sequence < 2; }
    std::size_t fill(Tile& tile) override {
      tile.more_filled[0] = count + tile.sequence;
      return count;
    }
  };
  open(with_inputs(usual()));
  Overfills source;
  std::vector<std::string> problems;
  Report const report = pipeline().run(source, sums_of(kernels()), [&](TileResult<std::uint64_t> tile) {
    if (!tile.ok()) problems.push_back(tile.problem());
  });
  EXPECT_EQ(report.tiles_done, 1u);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("of a tile's second input, which holds"), std::string::npos) << problems[0];
}

}  // namespace
}  // namespace penstock
