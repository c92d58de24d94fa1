// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/size_remark.hpp"

#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

TEST(SizeRemark, NamesTheSizeThatMostMean) {
  EXPECT_EQ(size_remark("--tile", "4kb"), "--tile 4kb is 4000 bytes; 4KiB is 4096.");
  EXPECT_EQ(size_remark("--tile", "16 MB"), "--tile 16 MB is 16000000 bytes; 16MiB is 16777216.");
}

TEST(SizeRemark, IsOfTheFirstSizeOfAListOrARange) {
  EXPECT_EQ(size_remark("--tile", "4KiB,8KB,1MB"), "--tile 8KB is 8000 bytes; 8KiB is 8192.");
  EXPECT_EQ(size_remark("--tile", "4KiB..1gb*2"), "--tile 1gb is 1000000000 bytes; 1GiB is 1073741824.");
}

TEST(SizeRemark, IsEmptyWhereNoSizeCouldMeanAnother) {
  for (char const* const list : {"", "4096", "4b", "4k", "4KiB", "4KiB..1MiB*4", "4kib,1m", "free", "kb"})
    EXPECT_EQ(size_remark("--tile", list), "") << list;
}

}  // namespace
}  // namespace penstock::cli
