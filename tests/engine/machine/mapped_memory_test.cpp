// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/mapped_memory.hpp"

#include <algorithm>
#include <stop_token>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

/// Four pages of a file in memory, mapped as a test says.
struct AMappedFile : testing::Test {
  std::size_t const page = page_bytes(), bytes = 4 * page;
  int const file = memfd_create("tiles", MFD_CLOEXEC);
  std::span<std::byte> memory;

  void map(std::size_t length, int rights = PROT_READ | PROT_WRITE) {
    ASSERT_EQ(ftruncate(file, static_cast<off_t>(length)), 0);
    void* const at = mmap(nullptr, bytes, rights, MAP_SHARED, file, 0);
    ASSERT_NE(at, MAP_FAILED);
    memory = {static_cast<std::byte*>(at), bytes};
  }
  void TearDown() override {
    munmap(memory.data(), memory.size());
    close(file);
  }
  std::string refusal() const {
    try {
      make_present(memory);
      return "";
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      return error.what();
    }
  }
};

TEST_F(AMappedFile, HasEachPagePresentAndKeepsWhatItHolds) {
  map(bytes);
  memory[page + 7] = std::byte{7};
  make_present(memory);
  unsigned char present[4] = {};
  ASSERT_EQ(mincore(memory.data(), bytes, present), 0);
  EXPECT_THAT(present, testing::Each(1));
  EXPECT_EQ(memory[page + 7], std::byte{7});
  EXPECT_EQ(std::ranges::count(memory, std::byte{0}), bytes - 1);
}

TEST_F(AMappedFile, IsRefusedIfAPageCannotBeWritten) {
  map(bytes);
  ASSERT_EQ(mprotect(memory.data() + 2 * page, page, PROT_READ), 0);
  EXPECT_THAT(refusal(), HasSubstr("byte " + std::to_string(2 * page) + " of " + std::to_string(bytes) +
                                   ": it cannot be written; map it with PROT_READ and PROT_WRITE."));
}

TEST_F(AMappedFile, IsRefusedIfAPageIsNotMapped) {
  map(bytes);
  ASSERT_EQ(munmap(memory.data() + page, page), 0);
  EXPECT_THAT(refusal(),
              HasSubstr("byte " + std::to_string(page) + " of " + std::to_string(bytes) + ": nothing is mapped there"));
  // Something else may be in the hole by now, such as memory of a sanitizer.
  munmap(memory.data() + 2 * page, bytes - 2 * page);
  memory = memory.first(page);
}

/// Seen to die of SIGBUS where a tile was touched, without the system being asked for each page.
TEST_F(AMappedFile, IsRefusedIfItIsShorterThanItsMapping) {
  map(3 * page);
  std::string const said = refusal();
  if (said.empty()) GTEST_SKIP() << "a kernel before 5.14 does not say";
  EXPECT_THAT(said, HasSubstr("byte " + std::to_string(3 * page)));
  EXPECT_THAT(said, HasSubstr("extend the file"));
}

TEST_F(AMappedFile, IsLeftAsItIsOnceAStopIsRequested) {
  map(bytes);
  std::stop_source stop;
  stop.request_stop();
  try {
    make_present(memory, stop.get_token());
    ADD_FAILURE() << "it did not notice";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::system);
    EXPECT_THAT(error.what(), testing::StartsWith("Interrupted"));
  }
}

}  // namespace
}  // namespace penstock
