// SPDX-License-Identifier: Apache-2.0
#include "ingest/decoding/decoder.hpp"

#include <algorithm>
#include <string>

#include "support/compressed.hpp"
#include "support/records_of_text.hpp"
#include <gmock/gmock.h>

#include "ingest/decoding/members.hpp"

namespace penstock {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::HasSubstr;

/// Decodes members of one format.
struct OneFormat {
  explicit OneFormat(Compression of) : format(of) {}
  Compression const format;

  /// Returns what these bytes decode to, with the reason behind it if they cannot be, in steps of `in` and `out` bytes.
  std::string decoded(std::string const& bytes, std::size_t in, std::size_t out) const {
    std::string all;
    try {
      Decoder decoder(format);
      std::string room(out, '\0');
      auto const to = std::as_writable_bytes(std::span(room));
      for (std::size_t at = 0, held = 0; at < bytes.size() || held > 0;) {
        if (held == 0) held = std::min(in, bytes.size() - at);
        auto const step = decoder.decode(support::bytes_of(bytes).subspan(at, held), to);
        if (step.none()) return all + "[no progress]";
        all += room.substr(0, step.given);
        at += step.taken;
        held -= step.taken;
        while (held == 0) {
          auto const more = decoder.decode({}, to);
          if (more.none()) break;
          all += room.substr(0, more.given);
        }
      }
      decoder.expect_border();
    } catch (Error const& error) {
      return all + "[" + error.what() + "]";
    }
    return all;
  }
};

/// Members of each format, decoded alone.
struct Members : testing::TestWithParam<Compression> {
  std::string const text = support::some_lines(5000);

  void SetUp() override {
    if (!support::can_compress(GetParam())) GTEST_SKIP() << "no library for " << name_of(GetParam());
  }
  std::string member(std::string const& of) const { return support::member_of(GetParam(), of); }
  std::string decoded(std::string const& bytes, std::size_t in, std::size_t out) const {
    return OneFormat(GetParam()).decoded(bytes, in, out);
  }
};
INSTANTIATE_TEST_SUITE_P(Of, Members, testing::Values(Compression::gzip, Compression::zstd, Compression::lz4),
                         [](auto const& format) { return std::string(name_of(format.param)); });

TEST_P(Members, DecodeHoweverTheyCome) {
  std::string const bytes = member(text) + member("") + member("x") + member(text);
  std::string const wanted = text + "x" + text;
  EXPECT_EQ(decoded(bytes, 1, 1), wanted);
  EXPECT_EQ(decoded(bytes, 7, 1000), wanted);
  EXPECT_EQ(decoded(bytes, bytes.size(), 1 << 16), wanted);
}

TEST_P(Members, ThatAreCutShortSayWhere) {
  std::string const first = member(text), bytes = first + member(text);
  for (std::size_t cut = 1; cut < bytes.size(); cut += cut < 40 ? 1 : 97) {
    if (cut == first.size()) continue;
    EXPECT_THAT(decoded(bytes.substr(0, cut), 64, 4096),
                HasSubstr("[it ends at byte " + std::to_string(cut) + ", within its " + name_of(GetParam()) + " data"));
  }
  EXPECT_EQ(decoded(first, 64, 4096), text);
}

TEST_P(Members, AreNotFollowedByOtherBytes) {
  std::string const bytes = member(text);
  std::string const where = "data end at byte " + std::to_string(bytes.size()) + ", and other bytes follow";
  for (std::string const& other : {"x"s, "\1\0"s, "\x1f\x8c\x07"s, "some more"s}) {
    EXPECT_THAT(decoded(bytes + other, 1, 4096), AllOf(testing::StartsWith(text), HasSubstr(where)));
    EXPECT_THAT(decoded(bytes + other, 1 << 16, 4096), HasSubstr(where));
  }
}

TEST_P(Members, ThatAreDamagedAreRefused) {
  std::string bytes = member(text);
  // The damage is in front of the checksum, which zstd does not have unless it is asked for.
  bytes[GetParam() == Compression::zstd ? 6 : bytes.size() / 2] ^= 0x55;
  EXPECT_THAT(decoded(bytes, 1 << 16, 1 << 16),
              testing::MatchesRegex("(.|\n)*\\[.* (cannot be decoded behind|ends at) byte(.|\n)*"));
}

TEST_P(Members, SayWhatToInstallWithoutTheirLibrary) {
  try {
    Decoder const decoder(GetParam(), 0, "libnone.so.9");
    FAIL() << "it was loaded";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("libnone.so.9 cannot be loaded"), HasSubstr("on Debian"),
                                    HasSubstr(" FILE` prints as standard input")));
  }
}

TEST_P(Members, AreFoundWithoutDecodingThem) {
  std::string const first = member(text), bytes = first + member("") + member(text);
  auto const read = [&](std::uint64_t offset, std::span<std::byte> to) {
    auto const part = support::bytes_of(bytes).subspan(std::min<std::size_t>(offset, bytes.size()));
    std::copy_n(part.begin(), std::min(part.size(), to.size()), to.begin());
    return std::min(part.size(), to.size());
  };
  std::uint64_t at = 0;
  for (std::string const& of : {text, ""s, text}) {
    auto const found = find_member(GetParam(), read, at, bytes.size(), 1 << 20);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->begin, at);
    EXPECT_EQ(found->end, at + member(of).size());
    EXPECT_GE(found->most, of.size());
    at = found->end;
  }
  EXPECT_FALSE(find_member(GetParam(), read, at, bytes.size(), 1 << 20)) << "there are no more";
  EXPECT_FALSE(find_member(GetParam(), read, 0, first.size() - 1, 1 << 20)) << "it is not all there";
  EXPECT_FALSE(find_member(GetParam(), read, 0, bytes.size(), 4999)) << "it is too large";
  EXPECT_FALSE(find_member(GetParam(), read, 1, bytes.size(), 1 << 20)) << "none begins there";
}

TEST(MembersOfGzip, ThatDoNotSayTheirSizeAreNotFound) {
  std::string const bytes = support::gzip_member(support::some_lines(100), "XY\1\0z"s);
  auto const read = [&](std::uint64_t offset, std::span<std::byte> to) {
    auto const part = support::bytes_of(bytes).subspan(offset);
    std::copy_n(part.begin(), std::min(part.size(), to.size()), to.begin());
    return std::min(part.size(), to.size());
  };
  EXPECT_FALSE(find_member(Compression::gzip, read, 0, bytes.size(), 1 << 20));
}

TEST(FramesOfLz4, DoNotEndAtABlockOfNothing) {
  std::string const bytes("\x04\x22\x4d\x18\x60\x40\x82\0\0\0\x80\1\0\0\x80x\0\0\0\0", 20);
  auto const read = [&](std::uint64_t offset, std::span<std::byte> to) {
    auto const part = support::bytes_of(bytes).subspan(offset);
    std::copy_n(part.begin(), std::min(part.size(), to.size()), to.begin());
    return std::min(part.size(), to.size());
  };
  auto const found = find_member(Compression::lz4, read, 0, bytes.size(), 1 << 20);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->end, bytes.size());
}

TEST(FramesOfZstd, ThatNeedMuchMemorySayHowToReadThem) {
  if (!support::can_compress(Compression::zstd)) GTEST_SKIP() << "no libzstd";
  Decoder decoder(Compression::zstd);
  std::array<std::byte, 16> room{};
  std::string const bytes("\x28\xb5\x2f\xfd\0\x90\1\0\0", 9);  // A window of 256 MiB, and an empty block.
  try {
    decoder.decode(support::bytes_of(bytes), room);
    FAIL() << "it was decoded";
  } catch (Error const& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("more than 128 MiB"), HasSubstr("`zstd -d --long=31 FILE`")));
  }
}

TEST_P(Members, ThatAreFollowedByAnotherFormatSayWhatToDo) {
  for (Compression const other : {Compression::gzip, Compression::zstd, Compression::lz4}) {
    if (other == GetParam() || !support::can_compress(other)) continue;
    std::string const bytes = member(text) + support::member_of(other, text);
    EXPECT_THAT(decoded(bytes, bytes.size(), 4096),
                HasSubstr(std::string("other bytes follow that are compressed by ") + name_of(other)));
  }
}

TEST(MembersOfGzip, MayBeFollowedByZerosAndNothingElse) {
  if (!support::can_compress(Compression::gzip)) GTEST_SKIP() << "no zlib";
  OneFormat const of(Compression::gzip);
  std::string const bytes = support::gzip_member("text") + support::gzip_member("more") + std::string(512, '\0');
  for (std::size_t const in : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
    EXPECT_EQ(of.decoded(bytes, in, 100), "textmore");
    EXPECT_THAT(of.decoded(bytes + "x", in, 100), HasSubstr("textmore[its gzip data end at byte"));
    EXPECT_THAT(of.decoded(bytes + support::gzip_member("no"), in, 100), HasSubstr("and other bytes follow"));
  }
}

TEST(MembersOfGzip, ThatHaveUnknownFlagsOrMethodsSayWhoCanDecodeThem) {
  if (!support::can_compress(Compression::gzip)) GTEST_SKIP() << "no zlib";
  for (std::string const& head : {"\x1f\x8b\x08\x20"s, "\x1f\x8b\x08\xff"s, "\x1f\x8b\x07\0"s}) {
    EXPECT_THAT(OneFormat(Compression::gzip).decoded(head + std::string(30, '\0'), 1, 100),
                AllOf(HasSubstr("unknown"), HasSubstr("decode it by the program that made it")));
  }
}

TEST(SkippableFrames, InFrontLeaveOpenHowTheInputIsCompressed) {
  OneFormat const of(Compression::skippable);
  std::string const skipped = support::skippable_frame("") + support::skippable_frame(std::string(300, 'P'));
  for (std::size_t const in : {std::size_t{1}, std::size_t{3}, std::size_t{10000}}) {
    EXPECT_EQ(of.decoded(skipped, in, 100), "");
    for (Compression const format : {Compression::zstd, Compression::lz4}) {
      if (!support::can_compress(format)) continue;
      std::string const bytes =
          skipped + support::member_of(format, "text") + skipped + support::member_of(format, "x");
      EXPECT_EQ(of.decoded(bytes, in, 100), "textx");
      EXPECT_THAT(of.decoded(bytes + "other", in, 100), HasSubstr("textx[its "s + name_of(format) + " data end at"));
    }
    EXPECT_THAT(of.decoded(skipped + "line", in, 100), HasSubstr("[its zstd or lz4 data end at byte 316"));
    EXPECT_THAT(of.decoded(skipped.substr(0, 100), in, 100), HasSubstr("[it ends at byte 100, within its zstd or lz4"));
  }
}

TEST(Inputs, SayHowTheyAreCompressed) {
  auto const of = [](std::string const& first, bool all = false) {
    return compression_of(support::bytes_of(first), all);
  };
  EXPECT_EQ(of("\x1f\x8b\x08\x08"), Compression::gzip);
  EXPECT_EQ(of("\x28\xb5\x2f\xfd"), Compression::zstd);
  EXPECT_EQ(of("\x04\x22\x4d\x18"), Compression::lz4);
  EXPECT_EQ(of(support::skippable_frame("")), Compression::skippable);
  EXPECT_EQ(of("\x1f\x8b\x08\xff"), Compression::gzip) << "whatever its flags are";
  EXPECT_EQ(of("\x1f\x8b"), Compression::gzip);
  EXPECT_EQ(of("\x1f\x9d\x90"), Compression::compress);
  EXPECT_EQ(of("\x02\x21\x4c\x18"), Compression::lz4_legacy);
  EXPECT_EQ(of("\x25\xb5\x2f\xfd"), Compression::zstd_legacy);
  EXPECT_EQ(of("7z\xbc\xaf\x27\x1c"), Compression::seven_zip);
  EXPECT_EQ(of("PK\5\6"), Compression::zip) << "without a file in it";
  EXPECT_EQ(of("BZh9\x17\x72\x45\x38\x50\x90"), Compression::bzip2) << "of nothing";
  EXPECT_EQ(of("line"), Compression::none);
  EXPECT_EQ(of("l"), Compression::none) << "one byte tells";
  EXPECT_EQ(of("BZh9 is a text"), Compression::none);
  EXPECT_EQ(of(""), std::nullopt);
  EXPECT_EQ(of("", true), Compression::none);
}

TEST(Inputs, ThatEndWithinTheirFirstBytesAreOfAFormatIfNoTextHasThese) {
  auto const of = [](std::string const& first) { return compression_of(support::bytes_of(first), true); };
  EXPECT_EQ(of("\x1f"), Compression::gzip);
  EXPECT_EQ(of("\x28\xb5"), Compression::zstd);
  EXPECT_EQ(of("\xfd\x37"), Compression::xz);
  EXPECT_EQ(of("\x04"), Compression::lz4);
  for (std::string const& text : {"BZ"s, "PK"s, "7z"s, "("s, "P*M"s, "Rar!"s, "LZIP"s}) {
    EXPECT_EQ(of(text), Compression::none) << text;
  }
}

TEST(Inputs, ThatAreNotDecodedSayHowToDecodeThem) {
  for (auto k = static_cast<int>(Compression::xz); k <= static_cast<int>(Compression::snappy); ++k) {
    EXPECT_THAT(why_not_decoded(static_cast<Compression>(k)),
                AllOf(testing::StartsWith("it is compressed by "), HasSubstr(" FILE` prints as standard input")));
  }
  EXPECT_EQ(why_not_decoded(Compression::skippable), "");
}

}  // namespace
}  // namespace penstock
