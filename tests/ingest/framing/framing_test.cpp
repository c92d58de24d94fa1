// SPDX-License-Identifier: Apache-2.0
#include "penstock/ingest/framing.hpp"

#include "support/records_of_text.hpp"
#include <gmock/gmock.h>

namespace penstock {
namespace {

using support::bytes_of;
using support::records_of;
using testing::ElementsAre;
using namespace std::string_literals;

TEST(Lines, EndWithANewlineAndTheLastOneMayLackIt) {
  EXPECT_THAT(records_of(*lines(), bytes_of("a\n\nbc\r\nz")), ElementsAre("a\n", "\n", "bc\r\n", "z"));
  EXPECT_EQ(lines()->whole_bytes(bytes_of("a\n\nbc\nz")), 6U);
  EXPECT_EQ(lines()->whole_bytes(bytes_of("abc")), 0U);
  EXPECT_EQ(lines()->whole_bytes({}), 0U);
  EXPECT_EQ(lines()->record_bytes(bytes_of("abc")), std::nullopt);
}

TEST(ADelimiter, MayHaveSeveralBytes) {
  EXPECT_THAT(records_of(*delimited_by("<>"), bytes_of("a<b<>c<>>d")), ElementsAre("a<b<>", "c<>", ">d"));
  EXPECT_EQ(delimited_by("ab")->whole_bytes(bytes_of("xabyabzb")), 6U);
  EXPECT_EQ(delimited_by("ab")->whole_bytes(bytes_of("b")), 0U);
  EXPECT_EQ(delimited_by("ab")->delimiter_bytes(), 2U);
}

TEST(ADelimiter, IsRefusedIfItDoesNotTellWhereARecordEnds) {
  for (std::string const& delimiter : {""s, "aa"s, "aba"s, "\r\n\r\n"s, std::string(257, 'x')}) {
    EXPECT_THROW(delimited_by(delimiter), Error) << delimiter;
  }
}

TEST(EqualRecords, AreCountedFromTheBeginning) {
  EXPECT_THAT(records_of(*equal_records(3), bytes_of("abcdefgh")), ElementsAre("abc", "def"));
  EXPECT_EQ(equal_records(3)->whole_bytes(bytes_of("abcdefgh")), 6U);
  EXPECT_THROW(equal_records(0), Error);
}

TEST(ALengthInFront, CountsTheBytesBehindIt) {
  EXPECT_THAT(records_of(*length_prefixed(), bytes_of("\0\0\0\2ab\0\0\0\0\0\0\0\3cd"s)),
              ElementsAre("\0\0\0\2ab"s, "\0\0\0\0"s));
  EXPECT_EQ(length_prefixed()->whole_bytes(bytes_of("\0\0\0\2ab\0\0\0\3cd"s)), 6U);
  EXPECT_EQ(length_prefixed()->record_bytes(bytes_of("\0\0\1\2"s)), 4U + 258U);
  EXPECT_EQ(length_prefixed()->record_bytes(bytes_of("\0\0\1"s)), std::nullopt);
}

TEST(ALengthInFront, MayStandBehindOtherBytesAndCountAll) {
  auto const framing = length_prefixed({.bytes = 2, .order = ByteOrder::little, .before = 1, .more = 0, .most = 1000});
  EXPECT_EQ(framing->record_bytes(bytes_of("x\1\2"s)), 513U);
  auto const eight = length_prefixed({.bytes = 8, .more = 8});
  EXPECT_EQ(eight->record_bytes(bytes_of("\0\0\0\0\0\0\0\1"s)), 9U);
}

/// Seen to fail if four is added, whatever the length has.
TEST(ALengthInFront, CountsWhatIsBehindItHoweverManyBytesItHas) {
  EXPECT_EQ(length_prefixed({.bytes = 8})->record_bytes(bytes_of("\0\0\0\0\0\0\0\1"s)), 9U);
  EXPECT_EQ(length_prefixed({.bytes = 1, .before = 2})->record_bytes(bytes_of("xy\3"s)), 6U);
}

TEST(ALengthInFront, ThatCannotBeIsAnErrorOfTheInput) {
  EXPECT_THROW((void)length_prefixed({.more = 0})->record_bytes(bytes_of("\0\0\0\3"s)), Error);
  EXPECT_THROW((void)length_prefixed()->record_bytes(bytes_of("\xff\0\0\0"s)), Error);
  auto const wraps = length_prefixed({.bytes = 8, .more = 8, .most = ~std::uint64_t{0}});
  EXPECT_THROW((void)wraps->record_bytes(bytes_of("\xff\xff\xff\xff\xff\xff\xff\xff"s)), Error);
  auto const negative = length_prefixed({.bytes = 1, .more = -2});
  EXPECT_THROW((void)negative->record_bytes(bytes_of("\1"s)), Error);
  EXPECT_EQ(negative->record_bytes(bytes_of("\3"s)), 1U);
}

TEST(ALengthInFront, IsRefusedIfItHasNoRoom) {
  EXPECT_THROW(length_prefixed({.bytes = 0}), Error);
  EXPECT_THROW(length_prefixed({.bytes = 9}), Error);
  EXPECT_THROW(length_prefixed({.before = 5000}), Error);
  EXPECT_THROW(length_prefixed({.most = 3}), Error);
}

TEST(AFramingOfTheUsers, CannotHaveRecordsWithoutBytes) {
  class Empty final : public Framing {
   public:
    std::optional<std::uint64_t> record_bytes(std::span<std::byte const>) const override { return 0; }
  };
  EXPECT_THROW((void)Empty().whole_bytes(bytes_of("abc")), Error);
  EXPECT_THAT(records_of(Empty(), bytes_of("abc")), testing::IsEmpty());
}

TEST(RecordLoss, IsOneSentence) {
  EXPECT_EQ(describe(left_out_of(RecordLoss{})), "");
  EXPECT_EQ(
      describe(left_out_of(RecordLoss{.refused = 2, .unfinished = 1})),
      "Left out: 2 records, too long for a tile: make tiles larger; 1 record, not finished where the input ends.");
}

}  // namespace
}  // namespace penstock
