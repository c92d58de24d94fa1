// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/stretch.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

/// A thousand passages of 10 ns, one after the other, and one that lasts all the time.
Recording thousand_and_one() {
  Recording recording{.rows = {{"a", RecordRow::Kind::thread}}, .passages = {}};
  for (std::int64_t i = 0; i < 1000; ++i) {
    recording.passages.push_back({static_cast<std::uint64_t>(i), 0, Step::fill, 10 * i, 10 * i + 10});
  }
  recording.passages.push_back({1000, 0, Step::borrow, 0, 10'000});
  return recording;
}

TEST(Within, CutsWhatReachesOut) {
  Recording const cut = within(thousand_and_one(), 95, 205);
  EXPECT_EQ(cut.passages.size(), 13u) << "nine whole ones, two that are cut, one from end to end, and the long one";
  std::int64_t sum = 0;
  for (Passage const& passage : cut.passages) {
    EXPECT_GE(passage.begin, 95);
    EXPECT_LE(passage.end, 205);
    sum += passage.end - passage.begin;
  }
  EXPECT_EQ(sum, 2 * 110);
  EXPECT_EQ(cut.rows.size(), 1u);
}

TEST(MiddleOf, IsAStretchWithAllThatTouchesIt) {
  Recording const some = middle_of(thousand_and_one(), 101);
  ASSERT_LE(some.passages.size(), 101u);
  EXPECT_GE(some.passages.size(), 50u);
  bool has_long = false;
  for (Passage const& passage : some.passages) {
    has_long = has_long || passage.tile == 1000;
    if (passage.tile == 1000) continue;
    EXPECT_NEAR(static_cast<double>(passage.begin), 5000, 1000);
  }
  EXPECT_TRUE(has_long);
}

TEST(MiddleOf, IsAllOfWhatIsSmallEnough) {
  EXPECT_EQ(middle_of(thousand_and_one(), 1001).passages.size(), 1001u);
  EXPECT_TRUE(middle_of(Recording{}, 5).passages.empty());
}

}  // namespace
}  // namespace penstock
