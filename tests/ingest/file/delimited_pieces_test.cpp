// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/delimited_pieces.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "support/records_of_text.hpp"
#include <gmock/gmock.h>

namespace penstock {
namespace {

using testing::ElementsAre;

/// A file in memory, cut by pieces for tiles of some bytes. Every test must leave with pieces that fit into a tile.
struct AFileOfLines : testing::Test {
  std::size_t tile_bytes = 64;
  std::string text;
  RecordLoss loss;
  std::size_t most_read = 0;  ///< Most bytes read for one piece.

  std::vector<std::string> pieces(FramingRef const& framing, LongRecords long_records = LongRecords::refuse) {
    std::size_t read_bytes = 0;
    auto const read = [&](std::uint64_t offset, std::span<std::byte> to) {
      std::string const part = text.substr(offset, to.size());
      std::memcpy(to.data(), part.data(), part.size());
      read_bytes += part.size();
      return part.size();
    };
    DelimitedPieces const cutter(framing, tile_bytes, long_records);
    std::vector<std::string> all;
    loss = {};
    most_read = 0;
    DelimitedPieces::Place at;
    do {
      read_bytes = 0;
      auto const piece = cutter.next(read, at, text.size());
      most_read = std::max(most_read, read_bytes);
      loss += piece.loss;
      EXPECT_LE(piece.bytes, tile_bytes);
      if (piece.bytes != 0) all.push_back(text.substr(piece.offset, piece.bytes));
      at = piece.next;
    } while (at.within_long || at.offset != text.size());
    return all;
  }
  std::vector<std::string> records(FramingRef const& framing, LongRecords long_records = LongRecords::refuse) {
    std::vector<std::string> all;
    for (std::string const& piece : pieces(framing, long_records)) {
      for (std::string const& record : support::records_of(*framing, support::bytes_of(piece))) all.push_back(record);
    }
    return all;
  }
};

TEST_F(AFileOfLines, FillsEachTileWithAsManyAsFit) {
  text = std::string(58, 'a') + "\nb\n" + std::string(54, 'c') + "\nz";
  EXPECT_THAT(pieces(lines()), ElementsAre(std::string(58, 'a') + "\nb\n", std::string(54, 'c') + "\nz"));
  text = "a\n" + std::string(63, 'b') + "\n" + std::string(63, 'c');
  EXPECT_THAT(pieces(lines()), ElementsAre("a\n", std::string(63, 'b') + "\n", std::string(63, 'c')));
}

TEST_F(AFileOfLines, LeavesOutALineThatFitsNowhereOrCutsIt) {
  text = "a\n" + std::string(64, 'b') + "\nc\n" + std::string(1000000, 'd') + "\ne\n" + std::string(65, 'f');
  EXPECT_EQ(support::joined(pieces(lines())), "a\nc\ne\n");
  EXPECT_EQ(loss, RecordLoss{.refused = 3});
  EXPECT_EQ(support::joined(pieces(lines(), LongRecords::truncate)),
            "a\n" + std::string(64, 'b') + "c\n" + std::string(64, 'd') + "e\n" + std::string(64, 'f'));
  EXPECT_EQ(loss, RecordLoss{.truncated = 3});
}

TEST_F(AFileOfLines, IsLookedAtInFrontOfTheEndsOfTilesOnly) {
  tile_bytes = 1 << 20;
  for (int k = 0; k < 100000; ++k) text += std::string(static_cast<std::size_t>(k % 80), 'x') + "\n";
  EXPECT_EQ(support::joined(pieces(lines())), text);
  EXPECT_EQ(most_read, 1024u);
}

TEST_F(AFileOfLines, HasADelimiterWhereverItLies) {
  tile_bytes = 16384;
  for (std::size_t end = tile_bytes - 4100; end < tile_bytes + 3; ++end) {
    if (end == tile_bytes - 4090) end = tile_bytes - 1030;
    if (end == tile_bytes - 1020) end = tile_bytes - 5;
    text = std::string(end, 'x') + "<>b<>" + std::string(tile_bytes, 'y');
    EXPECT_EQ(records(delimited_by("<>")).front(), end + 2 <= tile_bytes ? std::string(end, 'x') + "<>" : "b<>") << end;
  }
}

TEST_F(AFileOfLines, LosesNoneThatFitsAndGivesNoneTwice) {
  std::mt19937 random(11);
  for (int round = 0; round < 600; ++round) {
    std::string const delimiter = round % 3 == 0 ? "\n" : round % 3 == 1 ? "<>" : "abc";
    tile_bytes = 16 + random() % 300;
    auto const framing = delimited_by(delimiter);
    text = support::joined(support::delimited_records(80, delimiter, 8 + random() % (2 * tile_bytes), random));
    if (round % 5 == 0) text.resize(text.size() - delimiter.size());
    auto const all = support::records_of(*framing, support::bytes_of(text));
    std::vector<std::string> fit;
    std::ranges::copy_if(all, std::back_inserter(fit), [&](auto const& one) { return one.size() <= tile_bytes; });
    ASSERT_EQ(records(framing), fit) << "round " << round;
    ASSERT_EQ(loss, (RecordLoss{.refused = all.size() - fit.size()})) << "round " << round;
    std::size_t bytes = 0;
    for (std::string const& record : all) bytes += std::min(record.size(), tile_bytes);
    ASSERT_EQ(support::joined(pieces(framing, LongRecords::truncate)).size(), bytes) << "round " << round;
    ASSERT_EQ(loss, (RecordLoss{.truncated = all.size() - fit.size()})) << "round " << round;
  }
}

TEST_F(AFileOfLines, MayHoldLessThanItsSizeSays) {
  text = "one\ntwo\nthree\n";
  auto const read = [&](std::uint64_t offset, std::span<std::byte> to) {
    std::string const part = offset < text.size() ? text.substr(offset, to.size()) : "";
    std::memcpy(to.data(), part.data(), part.size());
    return part.size();
  };
  for (std::size_t const tile : {std::size_t{64}, std::size_t{4096}, std::size_t{8192}}) {
    auto const piece = DelimitedPieces(lines(), tile, LongRecords::refuse).next(read, {}, 4096);
    EXPECT_EQ(piece.offset, 0u);
    EXPECT_GE(piece.bytes, text.size());
    EXPECT_EQ(piece.next.offset, 4096u) << "that was the last piece";
  }
}

TEST_F(AFileOfLines, NeedsADelimiterThatFits) {
  EXPECT_FALSE(DelimitedPieces::suit(*equal_records(2)));
  EXPECT_TRUE(DelimitedPieces::suit(*lines()));
  EXPECT_THROW(DelimitedPieces(delimited_by("abcd"), 3, LongRecords::refuse), Error);
  EXPECT_THROW(DelimitedPieces(delimited_by(std::string(2048, 'a') + "b"), 1 << 20, LongRecords::refuse), Error);
}

}  // namespace
}  // namespace penstock
