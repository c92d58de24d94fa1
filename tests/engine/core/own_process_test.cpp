// SPDX-License-Identifier: Apache-2.0
#include "engine/core/own_process.hpp"

#include <memory>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace penstock {
namespace {

struct Parts {
  OwnProcess process;
};

TEST(PartsOfAProcess, AreLeftToItByItsChildAndByNoneElse) {
  auto parts = std::make_unique<Parts>();
  EXPECT_FALSE(left_to_parent(parts));
  ASSERT_NE(parts, nullptr);
  pid_t const child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Parts const* const before = parts.get();
    bool const left = left_to_parent(parts) && parts == nullptr && !before->process.is_current();
    _exit(left && !left_to_parent(parts) ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "the child would have destroyed them, or lost nothing to destroy";
  EXPECT_TRUE(parts->process.is_current());
}

}  // namespace
}  // namespace penstock
