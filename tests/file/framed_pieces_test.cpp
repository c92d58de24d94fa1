// SPDX-License-Identifier: Apache-2.0
#include "penstock/file/framed_pieces.hpp"

#include <algorithm>
#include <cstring>

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

TEST_F(AFileInPieces, HasAsManyEqualRecordsInEachAsFit) {
  text = std::string(130, 'x');
  EXPECT_THAT(pieces(equal_records(10), 0),
              ElementsAre(std::string(60, 'x'), std::string(60, 'x'), std::string(10, 'x')));
  EXPECT_TRUE(loss.none());
  text += "yyy";
  EXPECT_EQ(support::joined(pieces(equal_records(10), 0)).size(), 130U);
  EXPECT_EQ(loss, RecordLoss{.unfinished = 1});
}

TEST_F(AFileInPieces, SuitsFramingsWhoseRecordsAreFoundEachByItself) {
  EXPECT_TRUE(FramedPieces::suit(*equal_records(2)));
  EXPECT_FALSE(FramedPieces::suit(*lines()));
  EXPECT_FALSE(FramedPieces::suit(*length_prefixed()));
}

TEST_F(AFileInPieces, NeedsTilesWithRoomForItsRecords) {
  EXPECT_THROW(FramedPieces(equal_records(65), 64, 0, LongRecords::refuse), Error);
}

}  // namespace
}  // namespace penstock
