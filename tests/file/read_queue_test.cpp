// SPDX-License-Identifier: Apache-2.0
#include "penstock/file/read_queue.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <vector>

#include "file/a_file_reader.hpp"
#include "support/forbidden_call.hpp"
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace penstock {
namespace {

TEST_F(AFileReader, GoesOnWhereARequestCameBackShort) {
  spoil([](PieceRead& piece) {
    // Bytes that were never read.
    piece.result = std::min<std::int64_t>(piece.result, 7);
    std::fill(piece.to.begin() + 7, piece.to.end(), std::byte{0});
  });
  FileReader by = reader();
  EXPECT_EQ(read(by, file("a", 30000), 0, 30000), "30000");
}

TEST_F(AFileReader, ReadsPlainlyWhatWasInterruptedOrIsToBeTriedAgain) {
  for (std::int64_t const error : {EINTR, EAGAIN, ENOMEM, EINVAL, EOPNOTSUPP}) {
    spoil([&, turn = 0](PieceRead& piece) mutable {
      if (turn++ % 2 == 0) return;
      piece.result = -error;
      std::fill(piece.to.begin(), piece.to.end(), std::byte{0});
    });
    FileReader by = reader();
    EXPECT_EQ(read(by, file("a", 30000), 0, 30000), "30000") << error;
  }
}

TEST_F(AFileReader, AsksForNoMoreAtOnceThanItsQueueHolds) {
  std::size_t most = 0, asked = 0;
  spoil([&](PieceRead& piece) {
    most = std::max(most, piece.to.size());
    ++asked;
  });
  FileReader by = reader();
  EXPECT_EQ(read(by, file("a", 300000), 0, 300000), "300000");
  EXPECT_LE(asked, options.depth);
  EXPECT_GE(most, 300000 / options.depth);
}

TEST_F(AFileReader, ReadsPlainlyAndSaysWhyWhereIoUringIsRefused) {
  refuse("io_uring was refused: Operation not permitted (os error 1)");
  FileReader by = reader();
  EXPECT_EQ(read(by, file("a", 30000), 0, 30000), "30000");
  EXPECT_EQ(by.count(ReadWay::plain), 1u);
  EXPECT_THAT(by.reasons(), testing::ElementsAre("io_uring was refused: Operation not permitted (os error 1)"));
}

TEST_F(AFileReader, ReadsPastThePageCacheAlsoWithoutIoUring) {
  refuse("it was refused");
  options.reading = FileReading::direct;
  OpenFile file(this->file("a", 30000));
  if (!file.direct()) GTEST_SKIP() << "the file system of " << folder << " cannot: " << file.direct_refusal();
  FileReader by = reader();
  EXPECT_EQ(read(by, file, 0, 30000), "30000");
  EXPECT_EQ(by.count(ReadWay::direct), 1u);
}

TEST_F(AFileReader, DoesWithoutAQueueThatBrokeDown) {
  spoil([&](PieceRead& piece) {
    broken = true;
    piece.result = -EAGAIN;
  });
  FileReader by = reader();
  std::string const path = file("a", 30000);
  EXPECT_EQ(read(by, path, 0, 30000), "30000");
  EXPECT_EQ(read(by, path, 0, 30000), "30000");
  EXPECT_EQ(by.count(ReadWay::plain), 1u) << "the second of them";
}

TEST_F(AFileReader, ReadsPlainlyWhereTheKernelForbidsIoUring) {
  std::vector<std::string> remarks;
  if (open_uring(1, {}, remarks) == nullptr) GTEST_SKIP() << remarks.front();
  support::where_forbidden(SYS_io_uring_setup, EPERM, [&] {
    FileReader by = reader();
    EXPECT_EQ(read(by, file("a", 30000), 0, 30000), "30000");
    EXPECT_EQ(by.count(ReadWay::plain), 1u);
    EXPECT_THAT(by.reasons(), testing::ElementsAre("io_uring was refused: Operation not permitted (os error 1)"));
  });
}

TEST_F(AFileReader, ReadsByIoUringWithoutRegisteredTilesWhereTheKernelRefusesThem) {
  options.registered = true;
  void* const nothing = mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  FileReader by(options, {static_cast<std::byte*>(nothing), page}, open_queue);
  EXPECT_EQ(read(by, file("a", 30000), 0, 30000), "30000");
  munmap(nothing, page);
  if (refused) GTEST_SKIP() << by.reasons().front();
  EXPECT_EQ(by.count(ReadWay::uring), 1u);
  EXPECT_THAT(by.reasons(), testing::ElementsAre(testing::HasSubstr("did not register the tiles")));
}

TEST_F(AFileReader, ReadsByIoUringWhereItCan) {
  FileReader by = reader();
  std::string const path = file("a", 30000);
  for (int turn = 0; turn < 100; ++turn) ASSERT_EQ(read(by, path, 0, 30000), "30000");
  if (refused) GTEST_SKIP() << by.reasons().front();
  EXPECT_EQ(by.count(ReadWay::uring), 100u);
}

}  // namespace
}  // namespace penstock
