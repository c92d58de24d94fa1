// SPDX-License-Identifier: Apache-2.0
#include "penstock/file/page_cache.hpp"

#include <cerrno>
#include <string>
#include <vector>

#include "support/folder_of_files.hpp"
#include "support/forbidden_call.hpp"

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
  static void drop(OpenFile const& file) { posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED); }
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
  drop(file);
  bool const still_there = in_page_cache(file.descriptor(), 0, bytes);
  drop(file);
  support::where_forbidden(cachestat_number, EPERM,
                           [&] { EXPECT_EQ(in_page_cache(file.descriptor(), 0, bytes), still_there); });
  if (still_there) GTEST_SKIP() << "the file system of " << folder << " keeps its files in memory";
}

TEST_F(AFileInThePageCache, IsTakenToBeThereIfNobodySays) {
  EXPECT_TRUE(in_page_cache(-1, 0, bytes));
}

}  // namespace
}  // namespace penstock
