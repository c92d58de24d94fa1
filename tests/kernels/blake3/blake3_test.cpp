// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

#include "support/inline_stream.hpp"
#include <gtest/gtest.h>
#include <unistd.h>

#include "kernels/blake3/blake3_reference.hpp"
#include "kernels/blake3/blake3_subtree.hpp"
#include "penstock/error.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

std::string digest_of(std::string_view text) {
  return blake3_hex(blake3_root(blake3_subtree(std::as_bytes(std::span(text)), 0)));
}

TEST(Blake3, GivesThePublishedDigests) {
  // The README and the test vectors of the reference implementation have these.
  EXPECT_EQ(digest_of(""), "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
  EXPECT_EQ(digest_of("abc"), "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
  EXPECT_EQ(digest_of(std::string(1, '\0')), "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213");
}

TEST(Blake3, AgreesWithTheReferenceProgram) {
  if (std::system("b3sum --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "b3sum is not installed";
  auto const path = std::filesystem::temp_directory_path() / ("penstock-blake3-" + std::to_string(getpid()));
  auto const bytes = support::noise((std::size_t{3} << 20) + 17);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<char const*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const program(
      popen(("b3sum --no-names '" + path.string() + "'").c_str(), "r"), pclose);
  ASSERT_TRUE(program);
  std::array<char, 65> line{};
  ASSERT_TRUE(std::fgets(line.data(), line.size(), program.get()));
  std::filesystem::remove(path);
  EXPECT_EQ(std::string(line.data()), blake3_hex(blake3_root(blake3_subtree(bytes, 0))));
  EXPECT_EQ(std::string(line.data()), support::blake3_reference(bytes)) << "the oracle itself is wrong";
}

/// A tile of 256 KiB with all that it needs, on a stream that runs at once.
struct Blake3Tile : testing::Test {
  static constexpr std::size_t size = std::size_t{256} << 10;
  support::InlineStream backend;
  StreamRef stream{backend};
  alignas(16) std::array<std::byte, size> input{};
  alignas(16) std::array<std::byte, sizeof(Blake3Node)> node{};
  std::vector<std::byte> scratch = std::vector<std::byte>(blake3_scratch_bytes(size));

  void expect_refused(std::string const& because, auto call) {
    try {
      call();
      FAIL() << "accepted: " << because;
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      EXPECT_NE(std::string(error.what()).find(because), std::string::npos) << error.what();
    }
    EXPECT_EQ(backend.launches, 0) << "something was launched before the refusal";
  }
};

TEST_F(Blake3Tile, RefusesANodeOfTheWrongSize) {
  expect_refused("112 bytes", [&] { blake3_tile(input, 0, std::span(node).first(111), scratch, stream); });
}

TEST_F(Blake3Tile, RefusesTooLittleScratchAndSaysHowMuchItNeeds) {
  expect_refused(std::to_string(scratch.size()),
                 [&] { blake3_tile(input, 0, node, std::span(scratch).first(scratch.size() - 1), stream); });
}

TEST_F(Blake3Tile, RefusesMemoryThatIsNotAligned) {
  expect_refused("multiples of 16", [&] { blake3_tile(std::span(input).subspan(8), 0, node, scratch, stream); });
}

TEST_F(Blake3Tile, RefusesAPlaceWhereNoSuchTileCanBegin) {
  expect_refused("chunk 128", [&] { blake3_tile(input, 128, node, scratch, stream); });
  expect_refused("chunk 128", [&] { blake3_tile(std::span(input).first(129 * 1024), 128, node, scratch, stream); });
}

TEST_F(Blake3Tile, NeedsNoMoreScratchForASmallerTile) {
  for (std::size_t less = 0; less <= size; less += 1000) EXPECT_LE(blake3_scratch_bytes(less), scratch.size());
}

TEST_F(Blake3Tile, SaysWhatToDoOnAGpuInABuildWithoutCuda) {
  support::InlineStream gpu(DeviceKind::cuda);
  if (PENSTOCK_WITH_CUDA) GTEST_SKIP() << "this build has CUDA";
  for (auto const& call : {std::function<void()>([&] { blake3_prepare(StreamRef(gpu)); }),
                           std::function<void()>([&] { blake3_tile(input, 0, node, scratch, StreamRef(gpu)); })}) {
    try {
      call();
      FAIL() << "who computed that?";
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unsupported);
      EXPECT_NE(std::string(error.what()).find("PENSTOCK_CUDA=ON"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace penstock
