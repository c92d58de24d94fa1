// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/decoded_ahead.hpp"

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

TEST_P(MembersDecodedAhead, ThatDecodeToNothingAreUnitsToo) {
  std::string bytes;
  for (int k = 0; k < 100; ++k) bytes += member("");
  DecodedAhead stream(opened(bytes + member("x")), GetParam(), bytes.size() / 4);
  std::stop_source stopped;
  stopped.request_stop();
  stream.help(stopped.get_token());
  EXPECT_EQ(stream.helped(), 0u) << "none is looked for after a stop";
  stream.help({});
  stream.help({});
  EXPECT_EQ(stream.helped(), 2u) << "one unit has all of them";
  std::vector<std::byte> room(100);
  EXPECT_EQ(stream.gather(room, {}, {}).bytes, 1u);
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

/// A frame of lz4 of many blocks.
struct FrameOfBlocks : MembersDecodedAhead {
  std::string const text = some_lines(1'000'000);
  /// Returns what is read in tiles of 100 kB while another thread helps, and behind it why it cannot be read on.
  std::string read(DecodedAhead& stream) const {
    std::jthread const helper([&](std::stop_token const& enough) {
      while (!enough.stop_requested()) stream.help(enough);
    });
    std::string all;
    std::vector<std::byte> room(100'000);
    try {
      for (bool ended = false; !ended;) {
        auto const got = stream.gather(room, {}, {});
        all += support::text_of(std::span(room).first(got.bytes));
        ended = got.ended;
      }
    } catch (FileProblem const& problem) {
      all += std::string("[") + problem.what() + "]";
    }
    return all;
  }
  std::string read(std::string const& bytes) const {
    DecodedAhead stream(opened(bytes), Compression::lz4, 1);
    return read(stream);
  }
};
INSTANTIATE_TEST_SUITE_P(Format, FrameOfBlocks, testing::Values(Compression::lz4));

TEST_P(FrameOfBlocks, IsDecodedInPartsIfTheyDoNotDependOnEachOther) {
  for (bool const more_checks : {false, true}) {
    std::string const frame = support::lz4_frame(text, false, more_checks);
    DecodedAhead stream(opened(frame + support::lz4_frame("x") + support::skippable_frame("y") + frame),
                        Compression::lz4, 1);
    for (int k = 0; k < 2; ++k) stream.help({});
    EXPECT_EQ(stream.helped(), 2u);
    EXPECT_TRUE(read(stream) == text + "x" + text);
    EXPECT_FALSE(stream.by_one());
  }
  EXPECT_TRUE(read(support::lz4_frame(text, true)) == text);
}

TEST_P(FrameOfBlocks, SaysWhatIsWrongAsAWholeOne) {
  std::string const frame = support::lz4_frame(text);
  // It is cut at the header, within blocks, and in all that is behind the last one.
  for (std::size_t const cut : {std::size_t{6}, std::size_t{9}, std::size_t{11}, frame.size() / 2, frame.size() - 9,
                                frame.size() - 8, frame.size() - 5, frame.size() - 4, frame.size() - 1}) {
    EXPECT_THAT(read(frame.substr(0, cut)), testing::HasSubstr("[it ends at byte " + std::to_string(cut) + ", within"));
  }
  EXPECT_THAT(read(frame + "x"), testing::HasSubstr("other bytes follow"));
  std::string other = frame;
  other.back() ^= 1;
  EXPECT_THAT(read(other), testing::AllOf(testing::StartsWith(text), testing::HasSubstr("the checksum is another")));
  std::string larger = frame;
  larger[9] = '\x7f';  // Damages the first block's size.
  EXPECT_THAT(read(larger), testing::HasSubstr("[its lz4 data cannot be decoded behind byte"));
}

TEST_P(FrameOfBlocks, FailsAtABlockOfAnotherSizeThanItsText) {
  std::string sized = support::lz4_frame(text, false, true);
  std::string const other = support::lz4_frame(text + "x", false, true);
  // The header of a text with one byte more.
  sized.replace(0, 15, other, 0, 15);
  EXPECT_THAT(read(sized), testing::HasSubstr("the size is another"));
}

}  // namespace
}  // namespace penstock
