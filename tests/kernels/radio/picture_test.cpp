// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "egress/sink/folder_of_sinks.hpp"
#include "engine/core/shared_library.hpp"
#include "penstock/radio.hpp"

namespace penstock {
namespace {

constexpr std::array<std::uint8_t, 6> levels{0, 255, 128, 1, 254, 64};

std::uint32_t number_at(std::string const& bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t k = 0; k < 4; ++k) number = number << 8U | static_cast<unsigned char>(bytes.at(at + k));
  return number;
}

TEST(Picture, IsColoursFromBlackToWhiteInPpm) {
  std::string const ppm = heat_map(PictureFormat::ppm, 3, levels);
  std::string const head = "P6\n3 2\n255\n";
  ASSERT_EQ(ppm.substr(0, head.size()), head);
  ASSERT_EQ(ppm.size(), head.size() + 18);
  EXPECT_EQ(ppm.substr(head.size(), 6), std::string("\0\0\0\xFF\xFF\xFF", 6));
}

TEST(Picture, IsAPaletteAndItsLevelsInPng) {
  SharedLibrary const zlib({"libz.so.1"});
  if (!zlib.loaded()) GTEST_SKIP() << "zlib1g is not installed";
  // NOLINTBEGIN(google-runtime-int): zlib's types.
  int (*uncompress)(unsigned char*, unsigned long*, unsigned char const*, unsigned long) = nullptr;
  unsigned long (*crc32)(unsigned long, unsigned char const*, unsigned) = nullptr;
  unsigned long room = 100;
  // NOLINTEND(google-runtime-int)
  zlib.find(uncompress, "uncompress");
  zlib.find(crc32, "crc32");

  std::string const png = heat_map(PictureFormat::png, 3, levels);
  ASSERT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1A\n");
  std::vector<std::string> types;
  for (std::size_t at = 8; at < png.size();) {
    std::string const covered = png.substr(at + 4, 4 + number_at(png, at));
    auto const* const bytes = reinterpret_cast<unsigned char const*>(covered.data());
    EXPECT_EQ(number_at(png, at + 4 + covered.size()), crc32(0, bytes, static_cast<unsigned>(covered.size())));
    types.push_back(covered.substr(0, 4));
    if (types.back() == "IHDR") {
      EXPECT_EQ(covered.substr(4), std::string("\0\0\0\3\0\0\0\2\x08\3\0\0\0", 13));
    }
    if (types.back() == "PLTE") {
      EXPECT_EQ(covered.size(), 4 + 3 * 256);
    }
    if (types.back() == "IDAT") {
      std::vector<unsigned char> rows(room);
      ASSERT_EQ(uncompress(rows.data(), &room, bytes + 4, covered.size() - 4), 0);
      rows.resize(room);
      EXPECT_EQ(rows, (std::vector<unsigned char>{0, 0, 255, 128, 0, 1, 254, 64}));
    }
    at += covered.size() + 8;
  }
  EXPECT_EQ(types, (std::vector<std::string>{"IHDR", "PLTE", "IDAT", "IEND"}));
}

TEST(Picture, HasTheFormatOfItsNameAndWholeRows) {
  EXPECT_EQ(picture_format_of("a/b.ppm"), PictureFormat::ppm);
  EXPECT_THROW(static_cast<void>(picture_format_of("a.jpg")), Error);
  EXPECT_THROW(static_cast<void>(heat_map(PictureFormat::ppm, 4, levels)), Error);
  EXPECT_THROW(static_cast<void>(heat_map(PictureFormat::ppm, 0, levels)), Error);
  EXPECT_THROW(static_cast<void>(heat_map(PictureFormat::ppm, 3, {})), Error);
}

struct APictureFile : support::FolderOfSinks {};

TEST_F(APictureFile, IsThereOnceItIsWritten) {
  hold("a.ppm", "old");
  { PictureFile const never_written(path("a.ppm")); }
  PictureFile file(path("a.ppm"));
  EXPECT_EQ(content("a.ppm"), "old");
  file.write(3, levels);
  EXPECT_EQ(content("a.ppm"), heat_map(PictureFormat::ppm, 3, levels));
}

TEST_F(APictureFile, IsRefusedBeforeTheWork) {
  EXPECT_NE(problem_of([&] { PictureFile(path("a.gif")); }).find("end it in .png or .ppm"), std::string::npos);
  EXPECT_NE(problem_of([&] { PictureFile(path("missing/a.ppm")); }), "");
}

}  // namespace
}  // namespace penstock
