// SPDX-License-Identifier: Apache-2.0
#include "penstock/images/jpeg_decoder.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/images.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

/// A folder for files, and a place of 64 KiB for an image.
struct ADecoder : testing::Test {
  std::filesystem::path folder;
  std::vector<std::byte> place = std::vector<std::byte>(65'536);
  JpegDecoder decoder;

  void SetUp() override {
    std::string pattern = testing::TempDir() + "penstock-jpeg-XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  /// An image whose columns are red from the left, and whose rows are green from the top, in steps of `step`.
  static std::vector<std::byte> ramps(std::uint32_t width, std::uint32_t height, unsigned step) {
    std::vector<unsigned char> pixels;
    for (std::uint32_t y = 0; y < height; ++y) {
      for (std::uint32_t x = 0; x < width; ++x) {
        for (unsigned const colour : {step * x, step * y, 0U}) pixels.push_back(static_cast<unsigned char>(colour));
      }
    }
    return encode_jpeg(pixels, width, 100);
  }
  std::string write(std::vector<std::byte> const& bytes) const {
    std::string const path = folder / "image.jpg";
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<char const*>(bytes.data()), static_cast<long>(bytes.size()));
    return path;
  }
  /// A marker APP1 with this Orientation, put behind the beginning of a file.
  static std::vector<std::byte> oriented(std::vector<std::byte> const& jpeg, unsigned char orientation) {
    std::array<unsigned char, 36> const marker{0xFF, 0xE1, 0, 34, 'E', 'x',         'i', 'f', 0, 0,  'M', 'M',
                                               0,    42,   0, 0,  0,   8,           0,   1,   1, 18, 0,   3,
                                               0,    0,    0, 1,  0,   orientation, 0,   0,   0, 0,  0,   0};
    std::vector<std::byte> turned(jpeg.begin(), jpeg.begin() + 2);
    for (unsigned char const one : marker) turned.push_back(std::byte{one});
    turned.insert(turned.end(), jpeg.begin() + 2, jpeg.end());
    return turned;
  }
  ImageHead decode(EncodedImage const& image, JpegDecoding const& how = {}) {
    ImageHead head;
    std::size_t const bytes = decoder.decode(image, how, place);
    std::memcpy(&head, place.data(), sizeof head);
    EXPECT_EQ(bytes, head.bytes());
    EXPECT_EQ(std::pair(head.left, head.top), std::pair(0U, 0U));
    EXPECT_EQ(std::pair(head.part_width, head.part_height), std::pair(head.width, head.height));
    return head;
  }
  /// Red, green and blue of a pixel.
  std::array<int, 3> at(ImageHead const& head, std::size_t x, std::size_t y) const {
    std::byte const* const pixel = place.data() + sizeof head + 3 * (y * head.width + x);
    return {std::to_integer<int>(pixel[0]), std::to_integer<int>(pixel[1]), std::to_integer<int>(pixel[2])};
  }
  std::string refusal(EncodedImage const& image, JpegDecoding const& how = {}) {
    try {
      decoder.decode(image, how, place);
    } catch (Error const& error) {
      return error.what();
    }
    return "it was decoded";
  }
};

MATCHER_P3(IsNear, red, green, blue, "") {
  return std::abs(arg[0] - red) <= 3 && std::abs(arg[1] - green) <= 3 && std::abs(arg[2] - blue) <= 3;
}

TEST_F(ADecoder, KeepsTheSquareInTheMiddleOrAll) {
  std::string const path = write(ramps(60, 40, 4));
  ImageHead const square = decode({path});
  EXPECT_EQ(std::pair(square.width, square.height), std::pair(40U, 40U));
  EXPECT_THAT(at(square, 0, 0), IsNear(40, 0, 0));
  EXPECT_THAT(at(square, 39, 39), IsNear(196, 156, 0));
  ImageHead const all = decode({path}, {.square = false});
  EXPECT_EQ(std::pair(all.width, all.height), std::pair(60U, 40U));
  EXPECT_THAT(at(all, 59, 39), IsNear(236, 156, 0));
}

TEST_F(ADecoder, IsAsLargeAsItMustBe) {
  std::string const path = write(ramps(60, 40, 4));
  EXPECT_EQ(decode({path}, {.width = 21, .height = 21}).width, 40U);
  EXPECT_EQ(decode({path}, {.width = 20, .height = 20}).width, 20U);
  EXPECT_EQ(decode({path}, {.width = 1, .height = 1}).width, 5U);
  EXPECT_EQ(decode({path}, {.width = 30, .height = 10, .square = false}).width, 30U) << "each side counts";
  EXPECT_EQ(decode({path}, {.width = 31, .height = 10, .square = false}).width, 60U);
}

TEST_F(ADecoder, TurnsTheImageAndItsPart) {
  // Of each Orientation, the colours at the left and right end of the first row of the turned square.
  std::array<std::pair<std::array<int, 2>, std::array<int, 2>>, 8> const corners{{{{40, 0}, {196, 0}},
                                                                                  {{196, 0}, {40, 0}},
                                                                                  {{196, 156}, {40, 156}},
                                                                                  {{40, 156}, {196, 156}},
                                                                                  {{40, 0}, {40, 156}},
                                                                                  {{40, 156}, {40, 0}},
                                                                                  {{196, 156}, {196, 0}},
                                                                                  {{196, 0}, {196, 156}}}};
  for (unsigned char value = 1; value <= 8; ++value) {
    SCOPED_TRACE(testing::Message() << "Orientation " << int{value});
    std::string const path = write(oriented(ramps(60, 40, 4), value));
    ImageHead const head = decode({path});
    auto const& [left, right] = corners.at(value - 1U);
    EXPECT_THAT(at(head, 0, 0), IsNear(left[0], left[1], 0));
    EXPECT_THAT(at(head, 39, 0), IsNear(right[0], right[1], 0));
    EXPECT_EQ(decode({path}, {.square = false}).width, value > 4 ? 40U : 60U);
    EXPECT_THAT(at(decode({path}, {.oriented = false}), 0, 0), IsNear(40, 0, 0));
  }
}

TEST_F(ADecoder, MirrorsWhatWasTurned) {
  for (unsigned char value = 1; value <= 8; ++value) {
    SCOPED_TRACE(testing::Message() << "Orientation " << int{value});
    std::string const path = write(oriented(ramps(60, 40, 4), value));
    ImageHead const head = decode({path});
    auto const first = at(head, 0, 0), last = at(head, 39, 7);
    ImageHead const mirrored = decode({path}, {.mirrored = true});
    EXPECT_THAT(at(mirrored, 39, 0), IsNear(first[0], first[1], first[2]));
    EXPECT_THAT(at(mirrored, 0, 7), IsNear(last[0], last[1], last[2]));
  }
}

TEST_F(ADecoder, KeepsThePartThatIsChosen) {
  auto const choose = [](ImageHead& head) {
    EXPECT_EQ(std::pair(head.width, head.height), std::pair(40U, 60U));
    head.left = 8;
    head.top = 30;
    head.part_width = 24;
    head.part_height = 20;
  };
  std::string const path = write(oriented(ramps(60, 40, 4), 5));  // Rows become columns.
  ImageHead const part = decode({path}, {.width = 24, .height = 20, .choose = choose});
  EXPECT_EQ(std::pair(part.width, part.height), std::pair(24U, 20U));
  EXPECT_THAT(at(part, 0, 0), IsNear(120, 32, 0));
  EXPECT_THAT(at(part, 23, 19), IsNear(196, 124, 0));
  ImageHead const mirrored = decode({path}, {.mirrored = true, .choose = choose});
  EXPECT_THAT(at(mirrored, 0, 0), IsNear(120, 124, 0));
  ImageHead const half = decode({path}, {.width = 12, .height = 10, .choose = choose});
  EXPECT_EQ(std::pair(half.width, half.height), std::pair(12U, 10U));
}

TEST_F(ADecoder, TakesTheBytesOfAnArchive) {
  auto const first = ramps(8, 8, 2), second = ramps(24, 24, 9);
  auto both = first;
  both.insert(both.end(), second.begin(), second.end());
  std::string const path = write(both);
  EXPECT_EQ(decode({path, 0, first.size()}).width, 8U);
  EXPECT_EQ(decode({path, first.size(), second.size()}).width, 24U);
  EXPECT_EQ(decode({path, first.size()}).width, 24U) << "all that follows";
  EXPECT_EQ(refusal({path, first.size(), second.size() + 1}), "its file ends within it.");
  EXPECT_EQ(refusal({path, both.size() + 5, 10}), "it is empty.");
}

TEST_F(ADecoder, SaysWhatHasNoRoomOrMakesItFit) {
  std::string const path = write(ramps(200, 200, 1));
  EXPECT_THAT(refusal({path}), HasSubstr("120032 bytes"));
  EXPECT_EQ(decode({path}, {.fitting = true}).width, 100U);
  place.resize(sizeof(ImageHead) + 3 * 25 * 25);
  EXPECT_EQ(decode({path}, {.fitting = true}).width, 25U);
  place.pop_back();
  ImageHead const means = decode({path}, {.fitting = true});
  EXPECT_EQ(means.width, 13U) << "an eighth, of which two pixels become one";
  EXPECT_THAT(at(means, 0, 0), IsNear(8, 8, 0));
  EXPECT_THAT(at(means, 5, 11), IsNear(88, 184, 0));
  EXPECT_THAT(at(means, 12, 12), IsNear(196, 196, 0));
  place.resize(sizeof(ImageHead) + 2);
  try {
    decoder.decode({path}, {.fitting = true}, place);
    ADD_FAILURE() << "it has no room";
  } catch (ImageTooLarge const& large) {
    EXPECT_EQ(large.bytes(), place.size() + 1);
  }
}

TEST_F(ADecoder, SaysWhatIsWrongWithAFile) {
  EXPECT_THAT(refusal({folder / "none.jpg"}), HasSubstr("cannot be read: No such file or directory."));
  EXPECT_THAT(refusal({folder}), HasSubstr("cannot be read: Is a directory."));
  EXPECT_EQ(refusal({write({})}), "it is empty.");
  EXPECT_THAT(refusal({write(std::vector<std::byte>(100, std::byte{'a'}))}), HasSubstr("Not a JPEG file"));
  auto cut = ramps(60, 40, 4);
  cut.resize(cut.size() / 2);
  EXPECT_THAT(refusal({write(cut)}), HasSubstr("Premature end"));
  EXPECT_EQ(decode({write(ramps(60, 40, 4))}).width, 40U) << "what failed before does not matter";
}

TEST_F(ADecoder, IsTheSameWhereverItMoves) {
  std::string const path = write(ramps(8, 8, 2));
  JpegDecoder moved = std::move(decoder);
  EXPECT_GT(moved.decode({path}, {}, place), 0U);
  decoder = std::move(moved);
  EXPECT_EQ(decode({path}).width, 8U);
  EXPECT_EQ(decoder.take_warning(), "");
}

TEST(AnEncoder, RefusesWhatIsNoImage) {
  std::vector<unsigned char> const none;
  EXPECT_THROW(encode_jpeg(none, 0), Error);
  EXPECT_THROW(encode_jpeg(none, 7), Error);
}

}  // namespace
}  // namespace penstock
