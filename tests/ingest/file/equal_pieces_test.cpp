// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/equal_pieces.hpp"

#include <vector>

#include <gmock/gmock.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

using testing::ElementsAre;

/// Returns how many bytes the pieces of a file have, in tiles of 64.
std::vector<std::size_t> pieces(std::uint64_t size, std::size_t overlap = 0) {
  EqualPieces const cut(*equal_records(10), 64, overlap);
  std::vector<std::size_t> all;
  for (std::uint64_t begin = 0; begin < size;) {
    auto const piece = cut.piece(begin, size);
    all.push_back(piece.bytes);
    EXPECT_EQ(piece.unfinished_bytes, piece.next == size ? (size - begin) % 10 : 0U);
    begin = piece.next;
  }
  return all;
}

TEST(PiecesOfEqualRecords, HaveAsManyAsFit) {
  EXPECT_THAT(pieces(130), ElementsAre(60, 60, 10));
  EXPECT_THAT(pieces(120), ElementsAre(60, 60));
  EXPECT_THAT(pieces(133), ElementsAre(60, 60, 10));
  EXPECT_THAT(pieces(123), ElementsAre(60, 60, 0));
}

TEST(PiecesOfEqualRecords, MayBeginWithThoseTheOneBeforeEndsWith) {
  EXPECT_THAT(pieces(130, 20), ElementsAre(60, 60, 50));
  EXPECT_THAT(pieces(100, 20), ElementsAre(60, 60));
}

TEST(PiecesOfEqualRecords, NeedTilesWithRoomForThem) {
  EXPECT_THROW(EqualPieces(*equal_records(65), 64, 0), Error);
  EXPECT_THROW(EqualPieces(*equal_records(40), 64, 32), Error);
  EXPECT_TRUE(EqualPieces::suit(*equal_records(2)));
  EXPECT_FALSE(EqualPieces::suit(*lines()));
}

}  // namespace
}  // namespace penstock
