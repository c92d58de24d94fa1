// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/file_reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "support/folder_of_files.hpp"
#include "support/forbidden_call.hpp"
#include "support/kept_pages.hpp"
#include <gmock/gmock.h>
#include <sys/syscall.h>

#include "ingest/file/a_file_reader.hpp"
#include "ingest/file/open_file.hpp"

namespace penstock {
namespace {

struct EveryWayOfReading : AFileReader, testing::WithParamInterface<FileReading> {
  void SetUp() override {
    AFileReader::SetUp();
    options.reading = GetParam();
  }
};

TEST_P(EveryWayOfReading, BringsTheSameBytesForEverySize) {
  FileReader by = reader();
  for (std::size_t const bytes : {1UL, 511UL, 4095UL, 4096UL, 4097UL, 8192UL, 65535UL, 65536UL, 65537UL, 1048575UL}) {
    std::string const path = file("a", bytes);
    EXPECT_EQ(read(by, path, 0, bytes), std::to_string(bytes));
    std::size_t const rest = bytes - std::min(page, bytes), odd_rest = bytes - std::min<std::size_t>(99, bytes);
    EXPECT_EQ(read(by, path, bytes - rest, rest), std::to_string(rest));
    EXPECT_EQ(read(by, path, bytes - odd_rest, odd_rest), std::to_string(odd_rest)) << "from an odd place";
  }
}

TEST_P(EveryWayOfReading, ReadsHolesAsZeros) {
  std::ofstream(path("a")) << 'x';
  std::filesystem::resize_file(path("a"), 300000);
  OpenFile holes(path("a"));
  FileReader by = reader();
  std::fill_n(room.get(), room_bytes, std::byte{0xff});
  EXPECT_EQ(by.read(holes, 0, {room.get(), 300000}), 300000u);
  EXPECT_EQ(room.get()[0], std::byte{'x'});
  EXPECT_TRUE(std::all_of(room.get() + 1, room.get() + 300000, [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST_P(EveryWayOfReading, SaysThatAFileShrank) {
  OpenFile shrunk(file("a", 300000));
  FileReader by = reader();
  for (std::size_t const bytes : {200000UL, 199999UL, 4096UL, 0UL}) {
    std::filesystem::resize_file(path("a"), bytes);
    EXPECT_THAT(read(by, shrunk, 0, 300000), testing::HasSubstr("shrank")) << bytes;
  }
}

TEST_P(EveryWayOfReading, ReadsWhatWasWrittenAMomentAgo) {
  FileReader by = reader();
  for (std::size_t k = 0; k < 20; ++k)
    EXPECT_EQ(read(by, file("a", 100000 + k), 0, 100000 + k), std::to_string(100000 + k));
}

TEST_P(EveryWayOfReading, ReadsWhatHoldsLessThanItsSizeSays) {
  std::string const claims_a_page = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (!std::filesystem::exists(claims_a_page)) GTEST_SKIP() << "no " << claims_a_page;
  OpenFile file(claims_a_page);
  FileReader by = reader();
  std::size_t const got = by.read(file, 0, {room.get(), file.size()});
  EXPECT_GT(got, 0u);
  EXPECT_LT(got, file.size());
}

TEST_P(EveryWayOfReading, ReadsFromADiskWhatThePageCacheHasNot) {
  OpenFile cold(file("a", 600000));
  support::write_back(path("a"));
  support::leaves(cold.descriptor(), 600000);
  FileReader by = reader();
  EXPECT_EQ(read(by, cold, 0, 600000), "600000");
}

std::string name_of(testing::TestParamInfo<FileReading> const& way) {
  std::array<char const*, 3> const names{"automatic", "plain", "direct"};
  return names.at(static_cast<std::size_t>(way.param));
}

INSTANTIATE_TEST_SUITE_P(OneAtATime, EveryWayOfReading,
                         testing::Values(FileReading::automatic, FileReading::plain, FileReading::direct), name_of);

/// Seen to fail if what a read past the page cache says is taken as it is.
TEST_F(AFileReader, ReadsPlainlyWhatWasInterruptedOrRefusedPastThePageCache) {
  options.reading = FileReading::direct;
  for (int const error : {EINTR, EAGAIN, ENOMEM, EINVAL, EOPNOTSUPP}) {
    OpenFile file(this->file("a", 30000));
    auto const access = file.direct();
    if (!access) GTEST_SKIP() << "the file system of " << folder << " cannot: " << file.direct_refusal();
    auto const forbidden = static_cast<unsigned>(error);
    support::where_forbidden(
        SYS_pread64, forbidden,
        [&] {
          FileReader by = reader();
          EXPECT_EQ(read(by, file, 0, 30000), "30000") << error;
          EXPECT_EQ(by.count(ReadWay::direct), 1u);
          EXPECT_EQ(file.direct().has_value(), error != EINVAL) << "that will be the same next time";
          EXPECT_EQ(read(by, file, 0, 30000), "30000") << error;
          EXPECT_EQ(by.count(ReadWay::plain), error == EINVAL ? 1u : 0u);
        },
        access->descriptor);
  }
}

TEST_F(AFileReader, ReadsPastThePageCache) {
  options.reading = FileReading::direct;
  OpenFile file(this->file("a", 30000));
  if (!file.direct()) GTEST_SKIP() << "the file system of " << folder << " cannot: " << file.direct_refusal();
  FileReader by = reader();
  EXPECT_EQ(read(by, file, 0, 30000), "30000");
  EXPECT_EQ(by.count(ReadWay::direct), 1u);
}

TEST_F(AFileReader, LeavesToThePageCacheWhatItHas) {
  options.reading = FileReading::automatic;
  OpenFile file(this->file("a", 300000));
  auto const plain = support::while_kept(file.descriptor(), 300000, [&] {
    FileReader by = reader();
    EXPECT_EQ(read(by, file, 0, 300000), "300000");
    return by.count(ReadWay::plain);
  });
  if (!plain) GTEST_SKIP() << "the file system of " << folder << " has its files in no page cache for long";
  EXPECT_EQ(*plain, 1u);
}

TEST_F(AFileReader, ReadsPastThePageCacheWhatThatHasNot) {
  options.reading = FileReading::automatic;
  OpenFile file(this->file("a", 300000));
  support::write_back(path("a"));
  if (!file.direct()) GTEST_SKIP() << "the file system of " << folder << " has no way past the page cache";
  int left = 0;
  for (int i = 0; i < 100; ++i) {
    if (!support::leaves(file.descriptor(), 300000)) continue;
    ++left;
    FileReader by = reader();
    EXPECT_EQ(read(by, file, 0, 300000), "300000");
    // Looking without counting pages may read ahead, and what a disk brings at once is there.
    if (by.count(ReadWay::plain) > 0) continue;
    auto const pages = support::KeptPages::of(file.descriptor(), 300000);
    EXPECT_LT(2 * pages.kept, pages.all) << "it was read through it";
    return;
  }
  if (left == 0) GTEST_SKIP() << "the file system of " << folder << " keeps its files in memory";
  EXPECT_FALSE(support::system_tells_what_left(file.descriptor(), 300000)) << "it left " << left << " times";
  GTEST_SKIP() << "the system does not say which files of " << folder << " the page cache has";
}

TEST_F(AFileReader, LeavesSmallTilesToThePageCacheUnasked) {
  options.reading = FileReading::automatic;
  options.direct_from = 5000;
  FileReader by = reader();
  EXPECT_EQ(read(by, file("a", 4999), 0, 4999), "4999");
  EXPECT_EQ(by.count(ReadWay::plain), 1u);
  EXPECT_THAT(by.reasons(), testing::Contains(testing::HasSubstr("left to the page cache")));
}

constexpr std::size_t bytes = 300000;

/// A file that is on its disk and has just been written, and so is in the page cache.
struct AFileInThePageCache : support::FolderOfFiles {
  std::string it;

  void SetUp() override {
    FolderOfFiles::SetUp();
    it = file("a", bytes);
    support::write_back(it);
  }
  void is_seen_there() const {
    OpenFile const file(it);
    auto const seen = support::while_kept(file.descriptor(), bytes, [&] {
      return in_page_cache(file.descriptor(), 0, bytes) && in_page_cache(file.descriptor(), 8192, 1);
    });
    if (!seen) GTEST_SKIP() << "the file system of " << folder << " has its files in no page cache for long";
    EXPECT_TRUE(*seen);
  }
  /// Once at least of many times: to look without counting pages may read ahead, and what a disk brings at once is
  /// there.
  void is_not_seen_there_once_it_left() const {
    OpenFile const file(it);
    if (!support::system_tells_what_left(file.descriptor(), bytes)) {
      GTEST_SKIP() << "the system does not say which files of " << folder << " the page cache has";
    }
    int left = 0, unseen = 0;
    for (int i = 0; i < 3000 && unseen == 0; ++i) {
      if (!support::leaves(file.descriptor(), bytes)) continue;
      ++left;
      if (!in_page_cache(file.descriptor(), 0, bytes)) ++unseen;
    }
    if (left == 0) GTEST_SKIP() << "the file system of " << folder << " keeps its files in memory";
    EXPECT_GT(unseen, 0) << "it left " << left << " times";
  }
};

TEST_F(AFileInThePageCache, IsSeenThere) {
  is_seen_there();
}

TEST_F(AFileInThePageCache, IsSeenThereByAKernelThatCannotCountPages) {
  support::where_forbidden(support::cachestat_number, ENOSYS, [&] { is_seen_there(); });
}

TEST_F(AFileInThePageCache, IsNotSeenThereOnceItLeft) {
  is_not_seen_there_once_it_left();
}

TEST_F(AFileInThePageCache, IsNotSeenThereOnceItLeftByAKernelThatCannotCountPages) {
  support::where_forbidden(support::cachestat_number, EPERM, [&] { is_not_seen_there_once_it_left(); });
}

TEST_F(AFileInThePageCache, IsTakenToBeThereIfNobodySays) {
  EXPECT_TRUE(in_page_cache(-1, 0, bytes));
}

}  // namespace
}  // namespace penstock
