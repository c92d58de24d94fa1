// SPDX-License-Identifier: Apache-2.0
// Runs whose tiles are batches of images.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "c/image_pipeline.hpp"

namespace penstock::c {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(ImagesAsTensors, AreBatchesAndTheLastIsSmaller) {
  for (unsigned const grey : {10U, 60U, 110U, 160U, 210U}) add(jpeg(grey));
  begin();
  std::vector<std::size_t> counts;
  std::vector<int> all;
  for (penstock_completion one = next(); one.tile != nullptr; one = next()) {
    counts.push_back(colours(one.tile).size());
    std::ranges::copy(colours(one.tile), std::back_inserter(all));
    penstock_tile_give_back(one.tile);
  }
  EXPECT_THAT(counts, ElementsAre(2, 2, 1));
  EXPECT_THAT(all, ElementsAre(10, 60, 110, 160, 210));
  drain();
  EXPECT_TRUE(penstock_report_ok(report));
}

TEST_F(ImagesAsTensors, HaveMeanAndDeviation) {
  std::vector<unsigned char> red;
  for (int k = 0; k < 64; ++k) red.insert(red.end(), {255, 0, 0});
  add(encode_jpeg(red, 8, 100));
  images.mean[0] = 0.5F;
  images.mean[1] = 0.25F;
  images.deviation[0] = 0.5F;
  images.deviation[1] = 0.25F;
  begin();
  penstock_completion const one = next();
  auto const* const values = static_cast<float const*>(penstock_tile_output(one.tile).data);
  EXPECT_NEAR(values[0], 1, 0.02);
  EXPECT_NEAR(values[plane], -1, 0.02);
  EXPECT_NEAR(values[2 * plane], 0, 0.02);
  penstock_tile_give_back(one.tile);
  drain();
}

TEST_F(ImagesAsTensors, FollowAnOrderAndComeFromArchives) {
  auto archive = jpeg(40);
  std::uint64_t const first = archive.size();
  auto const second = jpeg(80);
  archive.insert(archive.end(), second.begin(), second.end());
  add(archive);
  add(jpeg(120));
  parts = {{.path = 0, .offset = 0, .bytes = first},
           {.path = 0, .offset = first, .bytes = 0},
           {.path = 1, .offset = 0, .bytes = 0}};
  order = {2, 0, 1, 1, 2};
  begin();
  EXPECT_THAT(all_colours(), ElementsAre(120, 40, 80, 80, 120));
  drain();
}

TEST_F(ImagesAsTensors, LoseWhatCannotBeDecodedAndNotTheirBatch) {
  add(jpeg(50));
  add(std::vector<std::byte>(100, std::byte{'a'}));
  add(std::vector<std::byte>());
  add(jpeg(150));
  auto cut = jpeg(200);
  cut.resize(cut.size() / 2);
  add(cut);
  paths.push_back(folder / "none.jpg");
  begin();
  std::vector<std::string> problems;
  std::vector<int> all;
  for (penstock_completion one = next(); one.tile != nullptr; one = next()) {
    EXPECT_EQ(one.outcome, PENSTOCK_DONE);
    for (std::uint64_t place = 0; place < 2; ++place) problems.push_back(problem(one.tile, place));
    std::ranges::copy(colours(one.tile), std::back_inserter(all));
    char const* reason = nullptr;
    EXPECT_EQ(penstock_tile_problem(pipeline, one.tile, 2, &reason), PENSTOCK_BAD_ARGUMENT);
    EXPECT_THAT(penstock_last_error(), HasSubstr("has 2 images, and none at place 2"));
    EXPECT_EQ(penstock_tile_problem(pipeline, one.tile, 0, nullptr), PENSTOCK_BAD_ARGUMENT);
    penstock_tile_give_back(one.tile);
  }
  EXPECT_THAT(all, ElementsAre(50, 0, 0, 150, 0, 0));
  EXPECT_THAT(problems,
              ElementsAre("", HasSubstr("1.jpg: Not a JPEG file"), HasSubstr("2.jpg: it is empty."), "",
                          HasSubstr("4.jpg: Premature end"), HasSubstr("none.jpg: it cannot be read: No such file")));
  drain();
  EXPECT_FALSE(penstock_report_ok(report));
  json const left_out = report_data()["left_out"];
  ASSERT_EQ(left_out.size(), 1u);
  EXPECT_EQ(left_out[0]["unit"], "image");
  EXPECT_EQ(left_out[0]["count"], 4);
}

TEST_F(ImagesAsTensors, HaveNoProblemsOfTheTilesBefore) {
  for (int k = 0; k < 40; ++k) add(k < 2 ? std::vector<std::byte>() : jpeg(60));
  begin();
  std::size_t problems = 0;
  for (penstock_completion one = next(); one.tile != nullptr; one = next()) {
    for (std::uint64_t place = 0; place < 2; ++place) problems += problem(one.tile, place).empty() ? 0U : 1U;
    penstock_tile_give_back(one.tile);
  }
  EXPECT_EQ(problems, 2u);
  drain();
}

TEST_F(ImagesAsTensors, AreDecodedSmallerToFitOrSaySo) {
  add(jpeg(90, 64, 64));
  options.input_bytes = 2 * (32 + 3 * 20 * 20);  // Of 64 x 64 an eighth has 8 x 8 and is enough for 4 x 4.
  images.width = images.height = 24;
  options.output_bytes = 2 * 3 * 24 * 24 * sizeof(float);
  begin();
  penstock_completion one = next();
  EXPECT_EQ(problem(one.tile, 0), "") << "16 x 16 have room";
  penstock_tile_give_back(one.tile);
  drain();
  penstock_report_destroy(report);
  images.flags = PENSTOCK_FULL_SIZE;
  begin();
  one = next();
  EXPECT_THAT(problem(one.tile, 0),
              HasSubstr("0.jpg: it needs 12320 bytes of a tile, whose images have 1232 each: make tiles larger."));
  penstock_tile_give_back(one.tile);
  drain();
}

TEST_F(ImagesAsTensors, HaveRandomPartsThatDependOnTheSeedAlone) {
  for (int k = 0; k < 40; ++k) add(jpeg(20, 100, 50, 2));
  images.flags = PENSTOCK_RANDOM_PARTS | PENSTOCK_RANDOM_MIRRORS;
  images.seed = 7;
  begin();
  std::vector<int> const once = all_colours();
  drain();
  penstock_report_destroy(report);
  EXPECT_GT(std::ranges::max(once) - std::ranges::min(once), 50) << "they are of many places";
  for (std::uint64_t k = 0; k < 40; ++k) order.push_back(39 - k);
  begin();
  std::vector<int> backward = all_colours();
  drain();
  penstock_report_destroy(report);
  std::ranges::reverse(backward);
  EXPECT_EQ(once, backward);
  order.clear();
  images.seed = 8;
  begin();
  EXPECT_NE(once, all_colours());
  drain();
}

TEST_F(ImagesAsTensors, AreMirroredByChance) {
  for (int k = 0; k < 200; ++k) add(jpeg(0, 16, 16, 15));
  images.flags = PENSTOCK_RANDOM_MIRRORS | PENSTOCK_WHOLE_IMAGES;
  begin();
  std::vector<int> const all = all_colours();
  drain();
  auto const mirrored = std::ranges::count_if(all, [](int colour) { return colour > 127; });
  // Within five standard deviations of the half.
  EXPECT_GT(mirrored, 64);
  EXPECT_LT(mirrored, 136);
}

TEST_F(ImagesAsTensors, EndWhenTheyAreStopped) {
  for (int k = 0; k < 400; ++k) add(jpeg(30));
  begin();
  penstock_tile_give_back(next().tile);
  penstock_stop(pipeline);
  drain();
  EXPECT_LT(report_data()["completed"], 200);
}

}  // namespace
}  // namespace penstock::c
