// SPDX-License-Identifier: Apache-2.0
// A pipeline of images, by the C interface.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "c/c_pipeline.hpp"

#include "penstock/images/jpeg_decoder.hpp"

namespace penstock::c {

/// A folder for images; batches of two, as tensors of 4 x 4, in order.
struct ImagesAsTensors : TheCInterface {
  static constexpr std::size_t plane = 16, tensor = 3 * plane;

  std::filesystem::path folder;
  std::vector<std::string> paths;
  std::vector<char const*> names;
  std::vector<penstock_image> parts;
  std::vector<std::uint64_t> order;
  penstock_images images = with_size<penstock_images>();

  void SetUp() override {
    std::string pattern = testing::TempDir() + "penstock-images-XXXXXX";
    folder = mkdtemp(pattern.data());
    named[0] = {"ordered", "yes"};
    images.batch = 2;
    images.width = images.height = 4;
    options.input_bytes = 65'536;
    options.output_bytes = 2 * tensor * sizeof(float);
  }
  void TearDown() override {
    TheCInterface::TearDown();
    std::filesystem::remove_all(folder);
  }

  /// Grey from the left to the right, from `grey` on in steps.
  static std::vector<std::byte> jpeg(unsigned grey, std::uint32_t width = 24, std::uint32_t height = 16,
                                     unsigned step = 0) {
    std::vector<unsigned char> pixels;
    for (std::uint32_t k = 0; k < width * height; ++k)
      pixels.insert(pixels.end(), 3, static_cast<unsigned char>(grey + step * (k % width)));
    return encode_jpeg(pixels, width, 100);
  }
  void add(std::vector<std::byte> const& bytes) {
    paths.push_back(folder / (std::to_string(paths.size()) + ".jpg"));
    std::ofstream(paths.back(), std::ios::binary)
        .write(reinterpret_cast<char const*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  penstock_status try_begin() {
    names.clear();
    for (std::string const& path : paths) names.push_back(path.c_str());
    images.paths = names.data();
    images.path_count = names.size();
    images.images = parts.empty() ? nullptr : parts.data();
    images.image_count = parts.size();
    images.order = order.empty() ? nullptr : order.data();
    images.order_count = order.size();
    return penstock_begin_images(pipeline, &images);
  }
  void begin() {
    if (pipeline == nullptr) make();
    ASSERT_EQ(try_begin(), PENSTOCK_OK) << penstock_last_error();
  }
  void refuses_images(penstock_status status, std::string const& words) {
    EXPECT_EQ(try_begin(), status);
    EXPECT_THAT(penstock_last_error(), testing::HasSubstr(words));
  }
  penstock_completion next() {
    auto completion = with_size<penstock_completion>();
    penstock_status const status = penstock_next(pipeline, -1, &completion);
    EXPECT_TRUE(status == PENSTOCK_OK || status == PENSTOCK_ENDED) << penstock_last_error();
    return completion;
  }
  void drain() { ASSERT_EQ(penstock_drain(pipeline, &report), PENSTOCK_OK) << penstock_last_error(); }
  std::string problem(penstock_tile const* tile, std::uint64_t place) {
    char const* reason = "not written";
    EXPECT_EQ(penstock_tile_problem(pipeline, tile, place, &reason), PENSTOCK_OK) << penstock_last_error();
    return reason == nullptr ? "" : reason;
  }
  /// The first value of each tensor, as a colour.
  std::vector<int> colours(penstock_tile const* tile) {
    auto const* const values = static_cast<float const*>(penstock_tile_output(tile).data);
    std::vector<int> all;
    for (std::size_t at = 0; at < penstock_tile_produced(tile) / sizeof(float); at += tensor)
      all.push_back(static_cast<int>(std::lround(values[at] * 255)));
    return all;
  }
  /// Those of all tiles, until the run ends.
  std::vector<int> all_colours() {
    std::vector<int> all;
    for (penstock_completion one = next(); one.tile != nullptr; one = next()) {
      EXPECT_EQ(one.outcome, PENSTOCK_DONE);
      std::ranges::copy(colours(one.tile), std::back_inserter(all));
      penstock_tile_give_back(one.tile);
    }
    return all;
  }
};

}  // namespace penstock::c
