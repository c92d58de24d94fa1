// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/hash_book.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

/// A book of one-chunk tiles that notes the files it hands out.
struct HashBookOfChunks : testing::Test {
  std::vector<HashedFile> files;
  HashBook book{blake3_chunk_bytes, [this](HashedFile const& file) { files.push_back(file); }};
  static Blake3Node empty() { return blake3_chunk({}, 0); }
};

TEST_F(HashBookOfChunks, HandsOutAFileOnceAllItsTilesAreBackAndItIsClosed) {
  auto const file = book.open("a", "");
  book.add(file, 0, empty(), 0);
  EXPECT_TRUE(files.empty());
  book.close(file, 1);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(blake3_hex(files[0].digest.value()), "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
}

TEST_F(HashBookOfChunks, KeepsTheOrderInWhichFilesWereOpened) {
  auto const a = book.open("a", ""), b = book.open("b", "");
  book.close(b, 1);
  book.add(b, 0, empty(), 0);
  EXPECT_TRUE(files.empty());
  book.note(a, "cannot be read");
  book.close(a, 0);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, "a");
  EXPECT_EQ(files[0].problem, "cannot be read");
  EXPECT_FALSE(files[0].digest);
  EXPECT_EQ(files[1].path, "b");
}

TEST_F(HashBookOfChunks, ReportsTheFirstOfSeveralProblems) {
  auto const file = book.open("a", "");
  book.close(file, 2);
  book.fail(file, "first");
  book.fail(file, "second");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].problem, "first");
}

TEST_F(HashBookOfChunks, GivesNoDigestOfAFileWithACancelledTile) {
  auto const file = book.open("a", "");
  book.close(file, 1);
  book.cancel(file);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_TRUE(files[0].cancelled);
  EXPECT_FALSE(files[0].digest);
}

}  // namespace
}  // namespace penstock::cli
