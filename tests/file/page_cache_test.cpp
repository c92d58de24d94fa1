// SPDX-License-Identifier: Apache-2.0
#include "penstock/file/page_cache.hpp"

#include <cerrno>
#include <string>

#include "support/folder_of_files.hpp"
#include "support/forbidden_call.hpp"
#include "support/kept_pages.hpp"

#include "penstock/file/open_file.hpp"

namespace penstock {
namespace {

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
  /// Of a hundred times once at least: to look without counting pages may read ahead, and what a disk brings at once is
  /// there.
  void is_not_seen_there_once_it_left() const {
    OpenFile const file(it);
    if (!support::system_tells_what_left(file.descriptor(), bytes)) {
      GTEST_SKIP() << "the system does not say which files of " << folder << " the page cache has";
    }
    int left = 0, unseen = 0;
    for (int i = 0; i < 100; ++i) {
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
