// SPDX-License-Identifier: Apache-2.0
#include "engine/core/between_processes.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/core/falls_asleep.hpp"

namespace penstock {
namespace {

using namespace std::chrono_literals;

/// Seen to fail for the second alone, where the rest of it was a thousand million nanoseconds: the system refuses that.
TEST(AThreadThatSleepsOnAWordOfProcesses, SleepsAlsoForAWholeSecond) {
  std::atomic<std::uint32_t> const word{3};
  for (std::chrono::nanoseconds const at_most : {std::chrono::nanoseconds(999ms), std::chrono::nanoseconds(1s)}) {
    EXPECT_TRUE(falls_asleep(word, FUTEX_WAKE, [&] { sleep_on(word, 3, at_most); })) << at_most.count() << " ns";
  }
}

/// A file that is opened twice.
struct AFileWithLocks : testing::Test {
  std::string const path = testing::TempDir() + "penstock_locks_" + std::to_string(getpid());
  int const one = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  int const other = open(path.c_str(), O_RDWR | O_CLOEXEC);
  void SetUp() override {
    ASSERT_GE(one, 0);
    ASSERT_GE(other, 0);
    unlink(path.c_str());
  }
  void TearDown() override {
    close(one);
    close(other);
  }
};

TEST_F(AFileWithLocks, HasOneForEachByte) {
  ASSERT_TRUE(lock_byte(one, 3));
  EXPECT_FALSE(is_byte_locked(other, 2));
  EXPECT_TRUE(is_byte_locked(other, 3));
  EXPECT_FALSE(is_byte_locked(other, 4));
  EXPECT_FALSE(lock_byte(other, 3));
  EXPECT_TRUE(lock_byte(other, 4));
  unlock_byte(one, 3);
  EXPECT_TRUE(lock_byte(other, 3));
}

}  // namespace
}  // namespace penstock
