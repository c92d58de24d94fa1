// SPDX-License-Identifier: Apache-2.0
#include "penstock/file/page_cache.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "support/folder_of_files.hpp"
#include "support/forbidden_call.hpp"
#include <sys/mman.h>

#include "penstock/file/open_file.hpp"

namespace penstock {
namespace {

constexpr std::size_t bytes = 300000;
constexpr unsigned cachestat_number = 451;

/// A file that is on its disk and has just been written, and so is in the page cache.
struct AFileInThePageCache : support::FolderOfFiles {
  std::string it;

  void SetUp() override {
    FolderOfFiles::SetUp();
    it = file("a", bytes);
    int const written = open(it.c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_EQ(fsync(written), 0);
    close(written);
  }
  /// Asks the system to drop it from the page cache. True if mincore(2) then finds no page of it there.
  static bool leaves(OpenFile const& file) {
    posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
    std::vector<unsigned char> pages(bytes / 4096 + 1);
    void* const seen = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.descriptor(), 0);
    EXPECT_NE(seen, MAP_FAILED);
    EXPECT_EQ(mincore(seen, bytes, pages.data()), 0);
    munmap(seen, bytes);
    return std::ranges::none_of(pages, [](unsigned char page) { return (page & 1U) != 0; });
  }
  /// How often of a hundred times it left, and how often it was then not seen. To look without counting pages may read
  /// ahead, and what a disk brings at once is there.
  static std::pair<int, int> look_a_hundred_times(OpenFile const& file) {
    int left = 0, unseen = 0;
    for (int i = 0; i < 100; ++i) {
      if (!leaves(file)) continue;
      ++left;
      if (!in_page_cache(file.descriptor(), 0, bytes)) ++unseen;
    }
    return {left, unseen};
  }
};

TEST_F(AFileInThePageCache, IsSeenThere) {
  OpenFile const file(it);
  EXPECT_TRUE(in_page_cache(file.descriptor(), 0, bytes));
  EXPECT_TRUE(in_page_cache(file.descriptor(), 8192, 1));
}

TEST_F(AFileInThePageCache, IsSeenThereByAKernelThatCannotCountPages) {
  OpenFile const file(it);
  support::where_forbidden(cachestat_number, ENOSYS, [&] { EXPECT_TRUE(in_page_cache(file.descriptor(), 0, bytes)); });
}

TEST_F(AFileInThePageCache, IsNotSeenThereOnceItLeft) {
  OpenFile const file(it);
  auto const [left, unseen] = look_a_hundred_times(file);
  if (left == 0) GTEST_SKIP() << "the file system of " << folder << " keeps its files in memory";
  EXPECT_GT(unseen, 0) << "it left " << left << " times";
}

TEST_F(AFileInThePageCache, IsNotSeenThereOnceItLeftByAKernelThatCannotCountPages) {
  OpenFile const file(it);
  std::pair<int, int> looks{0, 0};
  support::where_forbidden(cachestat_number, EPERM, [&] { looks = look_a_hundred_times(file); });
  if (looks.first == 0) GTEST_SKIP() << "the file system of " << folder << " keeps its files in memory";
  EXPECT_GT(looks.second, 0) << "it left " << looks.first << " times";
}

TEST_F(AFileInThePageCache, IsTakenToBeThereIfNobodySays) {
  EXPECT_TRUE(in_page_cache(-1, 0, bytes));
}

}  // namespace
}  // namespace penstock
