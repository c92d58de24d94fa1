// SPDX-License-Identifier: Apache-2.0
#include "engine/core/descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace penstock {
namespace {

bool is_open(int number) {
  return fcntl(number, F_GETFD) != -1;
}

/// The root folder, opened twice.
struct OpenDescriptors : testing::Test {
  Descriptor first{open("/", O_RDONLY | O_CLOEXEC)};
  Descriptor other{open("/", O_RDONLY | O_CLOEXEC)};
  int const number = first.number;
  void SetUp() override {
    ASSERT_TRUE(is_open(number));
    ASSERT_TRUE(is_open(other.number));
  }
};

TEST_F(OpenDescriptors, AreClosedWhenTheyDie) {
  int of_one = -1;
  {
    Descriptor const one(dup(number));
    of_one = one.number;
    EXPECT_TRUE(is_open(of_one));
  }
  EXPECT_FALSE(is_open(of_one));
}

TEST_F(OpenDescriptors, AreClosedOnceSoThatTheNextFileMayHaveTheirNumber) {
  first.shut();
  EXPECT_FALSE(is_open(number));
  Descriptor const next(dup2(other.number, number));
  first.shut();
  EXPECT_TRUE(is_open(next.number)) << "another's file was closed";
  EXPECT_EQ(first.number, -1);
}

}  // namespace
}  // namespace penstock
