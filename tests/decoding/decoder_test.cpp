// SPDX-License-Identifier: Apache-2.0
#include "penstock/decoding/decoder.hpp"

#include <algorithm>
#include <string>

#include "support/compressed.hpp"
#include "support/records_of_text.hpp"
#include <gmock/gmock.h>

#include "penstock/decoding/members.hpp"

namespace penstock {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::HasSubstr;

/// Members of each format, decoded alone.
struct Members : testing::TestWithParam<Compression> {
  std::string const text = support::some_lines(5000);

  void SetUp() override {
    if (!support::can_compress(GetParam())) GTEST_SKIP() << "no library for " << name_of(GetParam());
  }
  std::string member(std::string const& of) const { return support::member_of(GetParam(), of); }
  /// What these bytes decode to, or behind it why they cannot be decoded, in steps of so many bytes in and out.
  std::string decoded(std::string const& bytes, std::size_t in, std::size_t out) const {
    std::string all;
    try {
      Decoder decoder(GetParam());
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
  for (std::string const& other : {"x"s, "\0"s, "\x1f\x8b\x07"s, "some more"s}) {
    EXPECT_THAT(decoded(bytes + other, 1, 4096), AllOf(testing::StartsWith(text), HasSubstr(where)));
    EXPECT_THAT(decoded(bytes + other, 1 << 16, 4096), HasSubstr(where));
  }
}

TEST_P(Members, ThatAreDamagedAreRefused) {
  std::string bytes = member(text);
  // In front of the checksum, which zstd does not have unless it is asked for.
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

TEST(Inputs, SayHowTheyAreCompressed) {
  auto const of = [](std::string const& first, bool all = false) {
    return compression_of(support::bytes_of(first), all);
  };
  EXPECT_EQ(of("\x1f\x8b\x08\x08"), Compression::gzip);
  EXPECT_EQ(of("\x28\xb5\x2f\xfd"), Compression::zstd);
  EXPECT_EQ(of("\x04\x22\x4d\x18"), Compression::lz4);
  EXPECT_EQ(of(support::skippable_frame("")), Compression::zstd);
  EXPECT_EQ(of("\x1f\x8b\x08\xff"), Compression::none);
  EXPECT_EQ(of("line"), Compression::none);
  EXPECT_EQ(of("l"), Compression::none) << "one byte tells";
  EXPECT_EQ(of("\x1f\x8b"), std::nullopt);
  EXPECT_EQ(of(""), std::nullopt);
  EXPECT_EQ(of("\x1f\x8b", true), Compression::none);
  EXPECT_EQ(of("", true), Compression::none);
}

}  // namespace
}  // namespace penstock
