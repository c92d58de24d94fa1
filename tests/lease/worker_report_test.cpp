// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "lease/worker_page.hpp"
#include "support/folder_of_files.hpp"
#include <fcntl.h>
#include <gtest/gtest.h>

#include "engine/core/descriptor.hpp"
#include "penstock/lease/workers.hpp"

namespace penstock {
namespace {

/// A process that was started with a page, by the number of its descriptor.
struct AReport : support::FolderOfFiles {
  Descriptor memory{make_worker_page()};
  WorkerPage* const page = map_worker_page(memory.number);

  void SetUp() override {
    FolderOfFiles::SetUp();
    name(memory.number);
  }
  void TearDown() override {
    unsetenv(worker_page_variable);
    unmap_worker_page(page);
    FolderOfFiles::TearDown();
  }
  static void name(int descriptor) { setenv(worker_page_variable, std::to_string(descriptor).c_str(), 1); }
};

TEST_F(AReport, IsOneOfSeveralOfItsProcess) {
  WorkerReport first;
  auto second = std::make_unique<WorkerReport>();
  first.holds(3);
  second->holds(2);
  second->asks(true);
  first.moved();
  second->moved();
  first.answered();
  EXPECT_EQ(page->reports, 2U);
  EXPECT_EQ(page->held, 5U);
  EXPECT_EQ(page->asking, 1U);
  EXPECT_EQ(page->moved, 2U);
  EXPECT_EQ(page->answered, 1U);
  first.holds(1);
  EXPECT_EQ(page->held, 3U);
  second.reset();
  EXPECT_EQ(page->held, 1U) << "what it had is no longer out";
  EXPECT_EQ(page->asking, 0U);
}

/// The number may be that of another file in a program that a worker started. Seen to fail without a look at the seals.
TEST_F(AReport, LeavesAFileAloneThatIsNoPage) {
  std::string const other = file("other", sizeof(WorkerPage));
  auto const contents = [&] {
    std::ifstream in(other, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  std::string const before = contents();
  Descriptor const opened(open(other.c_str(), O_RDWR | O_CLOEXEC));
  name(opened.number);
  {
    WorkerReport report;
    report.holds(1);
    report.moved();
  }
  EXPECT_EQ(contents(), before);
}

TEST_F(AReport, SaysNothingInAProcessThatHasNoPage) {
  for (char const* const text : {"", "-1", "none", "1000000", "99999999999999999999"}) {
    setenv(worker_page_variable, text, 1);
    WorkerReport report;
    report.moved();
  }
  EXPECT_EQ(page->moved, 0U);
}

}  // namespace
}  // namespace penstock
