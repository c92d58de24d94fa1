// SPDX-License-Identifier: Apache-2.0
// Results that stay in memory of the device.
#include <array>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "c/c_pipeline.hpp"

namespace penstock::c {
namespace {

using testing::HasSubstr;

/// The same pipeline, whose results stay on the device; there the host may read them.
struct ResultsOnTheDevice : TheCInterface {
  ResultsOnTheDevice() { options.flags = PENSTOCK_ON_DEVICE; }

  penstock_device_bytes result_of(penstock_tile* tile) {
    auto result = with_size<penstock_device_bytes>();
    EXPECT_EQ(penstock_tile_on_device(pipeline, tile, &result), PENSTOCK_OK) << penstock_last_error();
    return result;
  }
  void begin(penstock_stage const* with) {
    make();
    ASSERT_EQ(penstock_begin(pipeline, nullptr, with), PENSTOCK_OK) << penstock_last_error();
  }
  void feed(unsigned char value, std::size_t filled = bytes) {
    penstock_tile* tile = nullptr;
    ASSERT_EQ(penstock_borrow(pipeline, &tile), PENSTOCK_OK) << penstock_last_error();
    std::memset(penstock_tile_input(tile, 0).data, value, bytes);
    penstock_tile_set_tag(tile, value);
    ASSERT_EQ(penstock_tile_set_filled(tile, 0, filled), PENSTOCK_OK);
    ASSERT_EQ(penstock_submit(pipeline, tile), PENSTOCK_OK) << penstock_last_error();
  }
  penstock_completion next() {
    auto completion = with_size<penstock_completion>();
    EXPECT_EQ(penstock_next(pipeline, -1, &completion), PENSTOCK_OK) << penstock_last_error();
    return completion;
  }
  void drain() { ASSERT_EQ(penstock_drain(pipeline, &report), PENSTOCK_OK) << penstock_last_error(); }
};

TEST_F(ResultsOnTheDevice, AreTheInputWithoutAStageAndStayUntilTheTileIsGivenBack) {
  options.output_bytes = 0;
  begin(nullptr);
  std::vector<penstock_tile*> all;
  std::set<void*> places;
  for (unsigned char value = 1; value <= 8; ++value) feed(value, value);
  for (int i = 0; i < 8; ++i) all.push_back(next().tile);
  for (penstock_tile* const tile : all) {
    penstock_device_bytes const result = result_of(tile);
    EXPECT_EQ(result.on_gpu, 0);
    ASSERT_EQ(result.bytes, penstock_tile_tag(tile)) << "as many as were filled";
    EXPECT_EQ(std::string(static_cast<char const*>(result.data), result.bytes),
              std::string(result.bytes, static_cast<char>(penstock_tile_tag(tile))));
    EXPECT_NE(result.data, penstock_tile_input(tile, 0).data) << "it is the device's own memory";
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(result.data) % 256, 0u);
    EXPECT_EQ(penstock_tiles_used_in(pipeline, &tile, 1, nullptr), PENSTOCK_OK)
        << "nothing to do where there is no GPU";
    places.insert(result.data);
  }
  EXPECT_EQ(places.size(), 8u);
  for (penstock_tile* const tile : all) penstock_tile_give_back(tile);
  drain();
}

/// Seen to fail if the places follow the slots of the lane, or if a batch has the place of its first tile.
TEST_F(ResultsOnTheDevice, AreThoseOfTheStageForTilesOneByOneAndForNeighboursAtOnce) {
  // Several tiles are put on the device at once.
  std::array<penstock_option, 3> batches{{{"tiles", "8"}, {"lanes", "1"}, {"batch", "4"}}};
  options.options = batches.data();
  options.option_count = batches.size();
  for (std::uint32_t const promises : {0U, std::uint32_t{PENSTOCK_ELEMENTWISE}}) {
    stage.promises = promises;
    begin(&stage);
    for (unsigned round = 0; round < 50; ++round) {
      for (unsigned i = 0; i < 8; ++i) feed(static_cast<unsigned char>(round * 4 + i));
      std::vector<penstock_tile*> kept;
      for (unsigned i = 0; i < 8; ++i) kept.push_back(next().tile);
      if (round == 0) {
        // A place that is lent twice for a tile leaves a gap.
        std::set<std::uintptr_t> places;
        for (penstock_tile* const tile : kept) places.insert(reinterpret_cast<std::uintptr_t>(result_of(tile).data));
        EXPECT_EQ(*places.rbegin() - *places.begin(), 7 * bytes) << "they lie side by side";
      }
      for (penstock_tile* const tile : kept) {
        penstock_device_bytes const result = result_of(tile);
        ASSERT_EQ(result.bytes, bytes);
        auto const expected = static_cast<unsigned char>(penstock_tile_tag(tile) + 1);
        ASSERT_EQ(std::string(static_cast<char const*>(result.data), bytes), std::string(bytes, char(expected)));
        penstock_tile_give_back(tile);
      }
    }
    drain();
    penstock_report_destroy(std::exchange(report, nullptr));
    penstock_pipeline_destroy(std::exchange(pipeline, nullptr));
  }
}

TEST_F(ResultsOnTheDevice, ComeToASinkAsWell) {
  sink.take = [](void* user, penstock_completion* completion) {
    auto& test = *static_cast<ResultsOnTheDevice*>(user);
    penstock_device_bytes const result = test.result_of(completion->tile);
    bool const right = result.bytes == bytes && *static_cast<unsigned char const*>(result.data) ==
                                                    penstock_tile_sequence(completion->tile) % 100 + 1;
    right ? test.done.push_back(0) : void(++test.wrong);
    return 0;
  };
  run();
  EXPECT_EQ(done.size(), input_tiles);
  EXPECT_EQ(wrong, 0u);
}

/// Seen to fail if the result before is shown instead.
TEST_F(ResultsOnTheDevice, AreNotThereWhereATileFailed) {
  named[0] = {"tiles", "2"};
  stage.run = [](void* user, penstock_device_tile const* tile, penstock_stream* stream) -> std::int64_t {
    if (tile->tag >= 100) {
      penstock_fail("not this one");
      return -1;
    }
    return increase(user, tile, stream);
  };
  begin(&stage);
  for (unsigned char const value : std::array<unsigned char, 12>{1, 101, 2, 3, 102, 4, 5, 103, 6, 7, 104, 8}) {
    feed(value);
    penstock_completion const completion = next();
    bool const fails = value >= 100;
    EXPECT_EQ(completion.outcome, fails ? PENSTOCK_TILE_FAILED : PENSTOCK_DONE);
    EXPECT_EQ(result_of(completion.tile).bytes, fails ? 0 : bytes);
    penstock_tile_give_back(completion.tile);
  }
  drain();
}

TEST_F(ResultsOnTheDevice, FailATileWhoseResultIsLargerThanItsPlace) {
  stage.run = [](void*, penstock_device_tile const*, penstock_stream*) -> std::int64_t { return bytes + 1; };
  begin(&stage);
  feed(1);
  penstock_completion const completion = next();
  EXPECT_EQ(completion.outcome, PENSTOCK_TILE_FAILED);
  EXPECT_THAT(completion.reason, HasSubstr("257 bytes, but a place for results has 256"));
  penstock_tile_give_back(completion.tile);
  drain();
}

TEST_F(ResultsOnTheDevice, AreInputsOrOfAStageWithAnOutput) {
  options.output_bytes = 0;
  make();
  EXPECT_EQ(penstock_begin(pipeline, nullptr, &stage), PENSTOCK_BAD_ARGUMENT);
  EXPECT_THAT(penstock_last_error(), HasSubstr("set output_bytes"));
  EXPECT_EQ(penstock_start(pipeline, &stage, &sink), PENSTOCK_BAD_ARGUMENT);
}

TEST_F(ResultsOnTheDevice, AreRefusedInPlaceAndWhereTheyWereNotAskedFor) {
  options.flags |= PENSTOCK_IN_PLACE;
  refuses(penstock_pipeline_create(devices, &options, &pipeline), PENSTOCK_BAD_ARGUMENT, "leave out PENSTOCK_IN_PLACE");
  options.flags = 0;
  make();
  penstock_tile* tile = nullptr;
  ASSERT_EQ(penstock_begin(pipeline, nullptr, &stage), PENSTOCK_OK);
  ASSERT_EQ(penstock_borrow(pipeline, &tile), PENSTOCK_OK);
  auto result = with_size<penstock_device_bytes>();
  EXPECT_EQ(penstock_tile_on_device(pipeline, tile, &result), PENSTOCK_BAD_ARGUMENT);
  EXPECT_THAT(penstock_last_error(), HasSubstr("make it with PENSTOCK_ON_DEVICE"));
  EXPECT_EQ(penstock_tiles_used_in(pipeline, &tile, 1, nullptr), PENSTOCK_BAD_ARGUMENT);
  penstock_tile_give_back(tile);
  drain();
}

}  // namespace
}  // namespace penstock::c
