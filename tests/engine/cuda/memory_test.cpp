// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/memory.hpp"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// One page of host memory, and nothing asked of it that would need a GPU.
struct HostPage : testing::Test {
  Health health;
  alignas(4096) std::array<std::byte, 4096> page{};
};

TEST_F(HostPage, CannotBePinnedAsThePartOfAPetabyte) {
  try {
    Pinned const pinned = pin(health, {page.data(), std::size_t{1} << 50});
    FAIL() << "a petabyte was pinned";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_pinned_memory);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("cannot pin 1 PiB: the machine has"), HasSubstr("ulimit -l"),
                                    HasSubstr("container"), HasSubstr("fewer --tiles")));
  }
}

TEST_F(HostPage, CannotBePinnedFromItsMiddle) {
  try {
    Pinned const pinned = pin(health, std::span(page).subspan(64));
    FAIL() << "half a page was pinned";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    EXPECT_THAT(error.what(), HasSubstr("starts on a page of 4 KiB"));
  }
}

TEST_F(HostPage, IsLeftAloneWhenNothingIsToBePinned) {
  EXPECT_NO_THROW(static_cast<void>(pin(health, {})));
}

TEST(NoDeviceMemory, NeedsNoDevice) {
  Health health;
  EXPECT_TRUE(allocate(health, 0).bytes().empty());
}

}  // namespace
}  // namespace penstock::cuda
