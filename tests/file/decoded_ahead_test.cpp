// SPDX-License-Identifier: Apache-2.0
#include "penstock/file/decoded_ahead.hpp"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/compressed.hpp"
#include "support/folder_of_files.hpp"
#include "support/records_of_text.hpp"
#include <gmock/gmock.h>

namespace penstock {
namespace {

using support::some_lines;

/// A file of members, and threads that decode them.
struct MembersDecodedAhead : support::FolderOfFiles, testing::WithParamInterface<Compression> {
  void SetUp() override {
    FolderOfFiles::SetUp();
    if (!support::can_compress(GetParam())) GTEST_SKIP() << "no library for " << name_of(GetParam());
  }
  std::string member(std::string const& text) const { return support::member_of(GetParam(), text); }
  std::shared_ptr<OpenFile> opened(std::string const& bytes) const {
    std::ofstream(path("file"), std::ios::binary) << bytes;
    return std::make_shared<OpenFile>(path("file"));
  }
};
INSTANTIATE_TEST_SUITE_P(Format, MembersDecodedAhead,
                         testing::Values(Compression::gzip, Compression::zstd, Compression::lz4),
                         [](auto const& format) { return std::string(name_of(format.param)); });

TEST_P(MembersDecodedAhead, AreAsManyAsThreadsHelpAndOneMore) {
  std::string const one = some_lines(50000), two = some_lines(50000, 5), three = some_lines(50000, 7);
  DecodedAhead stream(opened(member(one) + member(two) + member(three)), GetParam(), 1);
  stream.help({});
  stream.help({});
  stream.help({});
  EXPECT_EQ(stream.helped(), 2u) << "one thread helps, so two units are decoded and not read";
  std::vector<std::byte> room(200000);
  auto const got = stream.gather(room, {}, {});
  EXPECT_TRUE(got.ended);
  EXPECT_TRUE(support::text_of(std::span(room).first(got.bytes)) == one + two + three);
  stream.help({});
  EXPECT_EQ(stream.helped(), 2u) << "nothing is left";
}

TEST_P(MembersDecodedAhead, AreTheSameWhicheverThreadDecodesThem) {
  std::string text, bytes;
  for (std::size_t k = 0; k < 150; ++k) {
    std::string const one = some_lines(2000 + 10 * k, k);
    text += one;
    bytes += member(one);
  }
  DecodedAhead stream(opened(bytes), GetParam(), 1);
  std::string read;
  {
    std::vector<std::jthread> helpers;
    for (int k = 0; k < 3; ++k) {
      helpers.emplace_back([&](std::stop_token const& enough) {
        while (!enough.stop_requested()) stream.help(enough);
      });
    }
    std::vector<std::byte> room(1500);
    for (bool ended = false; !ended;) {
      auto const got = stream.gather(room, {}, {});
      read += support::text_of(std::span(room).first(got.bytes));
      ended = got.ended;
    }
  }
  EXPECT_TRUE(read == text);
}

}  // namespace
}  // namespace penstock
