// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <gmock/gmock.h>

#include "ingest/file/logs_that_are_followed.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {
namespace {

using followed::LogsThatAreFollowed;

/// The count of one truncation before so many bytes had been read.
LeftOut truncation_that_cut(std::uint64_t bytes) {
  return {.unit = "truncation",
          .reason = "of a followed file before all of it was read",
          .count = 1,
          .bytes = bytes,
          .remedy = "rotate logs by renaming"};
}

TEST_F(LogsThatAreFollowed, AreReadToTheirEndBeforeTheOnesThatHaveTheirNames) {
  append("log", "a\nb");
  EXPECT_EQ(next(), "0.0@0 a\n");
  rename("log", "log.1");
  append("log.1", "c\nlast");
  append("log", "d\n");
  EXPECT_EQ(next(), "0.0@2 bc\n");
  EXPECT_EQ(next(), "0.0@5 last");
  EXPECT_EQ(next(), "0.1@0 d\n");
}

TEST_F(LogsThatAreFollowed, AreReadOnUntilTheNewOneHasBytes) {
  append("log", "a\n");
  EXPECT_EQ(next(), "0.0@0 a\n");
  EXPECT_EQ(next_after(
                [&] {
                  rename("log", "log.1");
                  append("log", "");
                },
                [&] { append("log.1", "b\n"); }),
            "0.0@2 b\n");
  EXPECT_EQ(next_after([&] { append("log", "c\n"); }), "0.1@0 c\n");
}

TEST_F(LogsThatAreFollowed, MayBeRotatedTwiceBeforeTheirBytesAreRead) {
  append("log", "a\n");
  EXPECT_EQ(next(), "0.0@0 a\n");
  EXPECT_EQ(next_after(
                [&] {
                  rename("log", "log.1");
                  append("log", "");
                },
                [&] {
                  rename("log", "log.2");
                  append("log", "b\n");
                }),
            "0.1@0 b\n");
}

TEST_F(LogsThatAreFollowed, BeginAgainWhereTheyAreTruncated) {
  append("log", "first\nunfin");
  EXPECT_EQ(next(), "0.0@0 first\n");
  EXPECT_EQ(next_after([&] { append("log", "ish"); },
                       [&] {
                         std::filesystem::resize_file(path("log"), 0);
                         append("log", "x\n");
                       }),
            "0.1@0 x\n");
  EXPECT_THAT(
      source().remarks(),
      testing::Contains(path("log") +
                        " was truncated while it was followed (times: 1), and read from its beginning again: what "
                        "was written between the last read and the truncation, if anything, is lost."));
  EXPECT_EQ(source().loss(), (RecordLoss{.unfinished = 1}));
  LeftOut const half{.unit = "record", .reason = "not finished when a followed file was truncated", .count = 1};
  EXPECT_THAT(source().left_out(), testing::ElementsAre(half, truncation_that_cut(8))) << "half a line was there";
}

/// Seen to fail where such a truncation was a remark only.
TEST_F(LogsThatAreFollowed, ThatAreTruncatedBeforeAllIsReadAreCounted) {
  options.framing = nullptr;
  for (int again = 0; again < 2; ++again) {
    append("log", std::string(100, 'a'));
    EXPECT_THAT(next(), testing::EndsWith(" " + std::string(64, 'a')));
    std::filesystem::resize_file(path("log"), 0);
    append("log", "b");
    EXPECT_THAT(next(), testing::EndsWith("@0 b"));
    std::filesystem::resize_file(path("log"), 0);
  }
  LeftOut expected = truncation_that_cut(2 * 36);
  expected.count = 2;
  EXPECT_THAT(source().left_out(), testing::ElementsAre(expected));
}

/// Programs that copy a log and truncate it do so at each rotation.
/// Seen to fail where every truncation was counted.
TEST_F(LogsThatAreFollowed, ThatAreTruncatedAfterAllWasReadLeaveNothingOut) {
  append("log", "first\n");
  EXPECT_EQ(next(), "0.0@0 first\n");
  std::filesystem::resize_file(path("log"), 0);
  append("log", "a\n");
  EXPECT_EQ(next(), "0.1@0 a\n");
  std::filesystem::resize_file(path("log"), 0);
  append("log", "longer\n");
  EXPECT_EQ(next(), "0.2@0 longer\n");
  // The size of one file says nothing of the next one.
  rename("log", "log.1");
  append("log", "b\n");
  EXPECT_EQ(next(), "0.3@0 b\n");
  EXPECT_THAT(source().left_out(), testing::IsEmpty());
  EXPECT_THAT(source().remarks(), testing::Contains(testing::HasSubstr("(times: 2)")));
}

/// Seen to fail where the size that a tail had before it was cut off was forgotten.
TEST_F(LogsThatAreFollowed, ThatGrewAgainBeyondWhatWasReadAreCountedToo) {
  options.framing = nullptr;
  append("log", std::string(200, 'a'));
  EXPECT_EQ(next(), "0.0@0 " + std::string(64, 'a'));
  std::filesystem::resize_file(path("log"), 0);
  append("log", std::string(100, 'b'));
  EXPECT_EQ(next(), "0.1@0 " + std::string(64, 'b'));
  EXPECT_THAT(source().left_out(), testing::ElementsAre(truncation_that_cut(136)));
}

TEST_F(LogsThatAreFollowed, ThatWereTruncatedAndOutgrewWhatTheyWereBeginAgain) {
  append("log", "first\nline\nunfin");
  EXPECT_EQ(next(), "0.0@0 first\nline\n");
  std::filesystem::resize_file(path("log"), 0);
  append("log", "a new beginning\nthat is longer than all that was there before\n");
  EXPECT_EQ(next(), "0.1@0 a new beginning\nthat is longer than all that was there before\n");
  EXPECT_EQ(source().loss(), (RecordLoss{.unfinished = 1}));
  std::filesystem::resize_file(path("log"), 0);
  append("log", "a new beginning\nthat is longer than all that was there - before\n");
  EXPECT_EQ(next(), "0.2@0 a new beginning\nthat is longer than all that was there - before\n");
  EXPECT_THAT(source().remarks(), testing::Contains(testing::HasSubstr("(times: 2)")));
}

TEST_F(LogsThatAreFollowed, AreAllReadWhenTheyRotatedManyTimesUnseen) {
  append("log", "0\n");
  EXPECT_EQ(next(), "0.0@0 0\n");
  // Rotates the log as programs do that keep all: the oldest has the highest number.
  for (int k = 1; k <= 9; ++k) {
    append("log", std::to_string(k) + "\n");
    for (int old = k - 1; old > 0; --old) rename("log." + std::to_string(old), "log." + std::to_string(old + 1));
    rename("log", "log.1");
    append("log", "");
  }
  append("log", "10\n");
  EXPECT_EQ(next(), "0.0@2 1\n");
  for (int k = 2; k <= 10; ++k) EXPECT_EQ(next(), "0." + std::to_string(k - 1) + "@0 " + std::to_string(k) + "\n");
  EXPECT_THAT(source().left_out(), testing::IsEmpty());
}

TEST_F(LogsThatAreFollowed, ThatAreGoneBeforeTheyWereReadAreCounted) {
  append("log", "0\n");
  EXPECT_EQ(next(), "0.0@0 0\n");
  for (int k = 1; k <= 5; ++k) {
    rename("log", "log.1");  // The one that had this name is gone.
    append("log", std::to_string(k) + "\n");
  }
  EXPECT_EQ(next(), "0.1@0 4\n");
  EXPECT_EQ(next(), "0.2@0 5\n");
  auto const left_out = source().left_out();
  ASSERT_EQ(left_out.size(), 1u);
  EXPECT_EQ(left_out[0].unit, "file");
  EXPECT_EQ(left_out[0].count, 3u);
  EXPECT_TRUE(left_out[0].lost);
  EXPECT_THAT(source().remarks(),
              testing::Contains(path("log") + ": 3 files that had this name were gone before they could be read."));
}

}  // namespace
}  // namespace penstock
