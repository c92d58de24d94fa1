// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/hash_book.hpp"

#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

/// A book of one-chunk tiles that notes the files it hands out.
struct HashBookOfChunks : testing::Test {
  std::vector<HashedFile> files;
  HashBook book{[this](HashedFile const& file) { files.push_back(file); }};
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

TEST_F(HashBookOfChunks, SaysWhenItHasHandedOutAllThatItCan) {
  std::vector<std::size_t> handed_out;
  HashBook counting{[this](HashedFile const& file) { files.push_back(file); },
                    [&] { handed_out.push_back(files.size()); }};
  auto const a = counting.open("a", ""), b = counting.open("b", ""), c = counting.open("c", "");
  counting.close(b, 1);
  counting.add(b, 0, empty(), 0);
  EXPECT_TRUE(handed_out.empty());
  counting.add(a, 0, empty(), 0);
  counting.close(a, 1);
  counting.close(c, 1);
  counting.add(c, 0, empty(), 0);
  EXPECT_EQ(handed_out, (std::vector<std::size_t>{2, 3}));
}

TEST_F(HashBookOfChunks, ReportsTheFirstOfSeveralProblems) {
  auto const file = book.open("a", "");
  book.close(file, 2);
  book.fail(file, "first");
  book.fail(file, "second");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].problem, "first");
}

TEST_F(HashBookOfChunks, PutsTilesTogetherInWhateverOrderTheyCome) {
  // 3000 zeros, cut into chunks.
  std::array<std::byte, 1024> const zeros{};
  auto const file = book.open("a", "what a list says");
  book.add(file, 2, blake3_chunk(std::span(zeros).first(952), 2), 952);
  book.add(file, 0, blake3_chunk(zeros, 0), 1024);
  book.close(file, 3);
  book.add(file, 1, blake3_chunk(zeros, 1), 1024);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(blake3_hex(files[0].digest.value()), "93d53f96837a684944812bb1e52d65356b92a97973b785341592c0344f2e8969");
  EXPECT_EQ(files[0].bytes, 3000u);
  EXPECT_EQ(files[0].expected, "what a list says");
}

TEST_F(HashBookOfChunks, GivesNoDigestOfAFileWithAProblem) {
  auto const file = book.open("a", "");
  book.add(file, 0, empty(), 0);
  book.note(file, "it changed");
  book.close(file, 1);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_FALSE(files[0].digest);
  EXPECT_FALSE(files[0].cancelled);
}

TEST_F(HashBookOfChunks, GivesNoDigestOfAnAbandonedFileThoughItsTilesAreBack) {
  auto const file = book.open("a", "");
  book.add(file, 0, empty(), 0);
  book.abandon(file, 1);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_TRUE(files[0].cancelled);
  EXPECT_FALSE(files[0].digest);
}

TEST_F(HashBookOfChunks, WaitsForTheTilesOfAnAbandonedFile) {
  auto const file = book.open("a", "");
  book.abandon(file, 2);
  book.cancel(file);
  EXPECT_TRUE(files.empty());
  book.add(file, 0, empty(), 0);
  EXPECT_EQ(files.size(), 1u);
}

TEST_F(HashBookOfChunks, HandsOutAFileOnceThoughTheListenerThrows) {
  unsigned told = 0;
  HashBook throwing([&](HashedFile const& file) {
    ++told;
    if (file.path == "a") throw std::runtime_error("no room");
  });
  auto const a = throwing.open("a", ""), b = throwing.open("b", "");
  throwing.add(a, 0, empty(), 0);
  EXPECT_THROW(throwing.close(a, 1), std::runtime_error);
  EXPECT_EQ(told, 1u);
  throwing.add(b, 0, empty(), 0);
  throwing.close(b, 1);
  EXPECT_EQ(told, 2u);
}

TEST_F(HashBookOfChunks, HandsOutInOrderAndOneAtATimeWhateverThreadsFinishTheFiles) {
  constexpr std::uint64_t each = 500, threads = 4;
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t k = 0; k < each * threads; ++k) numbers.push_back(book.open(std::to_string(k), ""));
  {
    std::vector<std::jthread> all;
    for (std::uint64_t thread = 0; thread < threads; ++thread) {
      all.emplace_back([&, thread] {
        for (std::uint64_t k = thread; k < numbers.size(); k += threads) {
          book.close(numbers[k], 1);
          book.add(numbers[k], 0, empty(), 0);
        }
      });
    }
  }
  // The listener has no lock of its own.
  ASSERT_EQ(files.size(), numbers.size());
  for (std::uint64_t k = 0; k < files.size(); ++k) EXPECT_EQ(files[k].path, std::to_string(k));
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
