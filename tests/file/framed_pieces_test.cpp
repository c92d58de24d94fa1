// SPDX-License-Identifier: Apache-2.0
#include "penstock/file/framed_pieces.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "support/records_of_text.hpp"
#include <gmock/gmock.h>

namespace penstock {
namespace {

using testing::ElementsAre;

/// A file in memory, cut by pieces for tiles of 64 bytes. Every test must leave with pieces that are where they say.
struct AFileInPieces : testing::Test {
  static constexpr std::size_t tile_bytes = 64;
  std::string text;
  RecordLoss loss;
  FramedPieces::Read const read = [this](std::uint64_t offset, std::span<std::byte> to) {
    std::string const part = text.substr(offset, to.size());
    std::memcpy(to.data(), part.data(), part.size());
    return part.size();
  };

  std::vector<std::string> pieces(FramingRef const& framing, std::size_t longest,
                                  LongRecords long_records = LongRecords::refuse) {
    FramedPieces const cutter(framing, tile_bytes, longest, long_records);
    std::vector<std::string> all;
    std::vector<std::byte> tile(tile_bytes);
    loss = {};
    for (std::size_t begin = 0; begin < text.size(); begin += cutter.step()) {
      auto const piece = cutter.read(read, begin, text.size(), tile);
      loss += piece.loss;
      all.push_back(support::text_of(std::span(tile).first(piece.bytes)));
      EXPECT_EQ(all.back(), text.substr(piece.offset, piece.bytes));
    }
    return all;
  }
};

TEST_F(AFileInPieces, GivesEachLineToThePieceInWhichItBegins) {
  text = std::string(58, 'a') + "\nb\n" + std::string(54, 'c') + "\nz";
  EXPECT_THAT(pieces(lines(), 4), ElementsAre(std::string(58, 'a') + "\nb\n", std::string(54, 'c') + "\nz"));
  text = std::string(59, 'a') + "\nb\n";
  EXPECT_THAT(pieces(lines(), 4), ElementsAre(std::string(59, 'a') + "\n", "b\n"));
}

TEST_F(AFileInPieces, HasAnEmptyPieceWhereNoLineBegins) {
  text = std::string(40, 'a') + "\n" + std::string(63, 'b') + "\n" + std::string(6, 'c') + "\n";
  EXPECT_THAT(pieces(lines(), 32),
              ElementsAre(std::string(40, 'a') + "\n", std::string(63, 'b') + "\n", "", std::string(6, 'c') + "\n"));
}

TEST_F(AFileInPieces, LeavesOutALineThatDoesNotFitOrCutsIt) {
  text = "a\n" + std::string(300, 'b') + "\nc\n";
  EXPECT_EQ(support::joined(pieces(lines(), 8)), "a\nc\n");
  EXPECT_EQ(loss, RecordLoss{.refused = 1});
  EXPECT_EQ(support::joined(pieces(lines(), 8, LongRecords::truncate)), "a\n" + std::string(62, 'b') + "c\n");
  EXPECT_EQ(loss, RecordLoss{.truncated = 1});
}

TEST_F(AFileInPieces, FindsADelimiterWhereverItLies) {
  constexpr std::size_t large = 16384, longest = 8000, step = large - longest;
  std::vector<std::byte> tile(large);
  FramedPieces const cutter(delimited_by("<>"), large, longest, LongRecords::refuse);
  for (std::size_t end = step + 4090; end < step + 4100; ++end) {
    text = std::string(end, 'x') + "<>b<>";
    auto const piece = cutter.read(read, step, text.size(), tile);
    EXPECT_EQ(piece.offset, end + 2);
    EXPECT_EQ(support::text_of(std::span(tile).first(piece.bytes)), "b<>");
  }
}

TEST_F(AFileInPieces, HasAsManyEqualRecordsInEachAsFit) {
  text = std::string(130, 'x');
  EXPECT_THAT(pieces(equal_records(10), 0),
              ElementsAre(std::string(60, 'x'), std::string(60, 'x'), std::string(10, 'x')));
  EXPECT_TRUE(loss.none());
  text += "yyy";
  EXPECT_EQ(support::joined(pieces(equal_records(10), 0)).size(), 130U);
  EXPECT_EQ(loss, RecordLoss{.unfinished = 1});
}

TEST_F(AFileInPieces, SuitsFramingsWhoseRecordsCanBeFoundAnywhere) {
  EXPECT_TRUE(FramedPieces::suit(*lines()));
  EXPECT_TRUE(FramedPieces::suit(*equal_records(2)));
  EXPECT_FALSE(FramedPieces::suit(*length_prefixed()));
}

TEST_F(AFileInPieces, NeedsTilesWithRoomForItsRecords) {
  EXPECT_THROW(FramedPieces(equal_records(65), 64, 0, LongRecords::refuse), Error);
  EXPECT_THROW(FramedPieces(lines(), 64, 0, LongRecords::refuse), Error);
  EXPECT_THROW(FramedPieces(lines(), 64, 33, LongRecords::refuse), Error);
  EXPECT_THROW(FramedPieces(delimited_by("abcd"), 64, 3, LongRecords::refuse), Error);
}

TEST_F(AFileInPieces, LosesNoRecordThatFitsAndGivesNoneTwice) {
  std::mt19937 random(11);
  for (int round = 0; round < 600; ++round) {
    std::string const delimiter = round % 3 == 0 ? "\n" : round % 3 == 1 ? "<>" : "abc";
    std::size_t const longest = 4 + random() % 28;
    auto const framing = delimited_by(delimiter);
    // Some are too long for their tile in every third round.
    bool const some_are_long = round % 2 == 0;
    auto const records = support::delimited_records(80, delimiter, some_are_long ? 200 : longest, random);
    text = support::joined(records);
    if (round % 5 == 0) text.resize(text.size() - delimiter.size());
    std::vector<std::string> got;
    for (std::string const& piece : pieces(framing, longest)) {
      for (std::string const& record : support::records_of(*framing, support::bytes_of(piece))) got.push_back(record);
    }
    auto const wanted = support::records_of(*framing, support::bytes_of(text));
    ASSERT_EQ(got.size() + loss.refused, wanted.size()) << "round " << round;
    // What is there is there in order, and what is not there was too long.
    std::size_t k = 0;
    for (std::string const& record : wanted) {
      if (k < got.size() && got[k] == record) {
        ++k;
      } else {
        ASSERT_GT(record.size(), longest) << "round " << round;
      }
    }
    ASSERT_EQ(k, got.size()) << "round " << round;
    // Cut, each has its beginning.
    std::size_t const whole = support::joined(pieces(framing, longest, LongRecords::truncate)).size();
    ASSERT_EQ(loss.truncated, wanted.size() - got.size()) << "round " << round;
    ASSERT_EQ(whole == text.size(), loss.none()) << "round " << round;
  }
}

}  // namespace
}  // namespace penstock
