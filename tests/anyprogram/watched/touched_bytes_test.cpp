// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/touched_bytes.hpp"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

/// Bytes that were shown, one by one.
struct Shown {
  std::set<std::pair<std::size_t, std::uint64_t>> bytes;

  void touch(TouchedBytes& to, std::uint64_t begin, std::uint64_t count, Touch const& touch, bool over = false) {
    bytes.clear();
    to.touch(
        begin, count, touch,
        [&](Touch const& earlier, std::uint64_t from, std::uint64_t end) {
          for (std::uint64_t at = from; at < end; ++at) bytes.emplace(earlier.call, at);
        },
        [&](Touch const&) { return over; });
  }
};

TEST(TouchedBytes, ShowWhatTouchedThemBeforeIfOneWrites) {
  TouchedBytes touched;
  Shown shown;
  shown.touch(touched, 10, 10, {1, true});
  EXPECT_TRUE(shown.bytes.empty());
  shown.touch(touched, 18, 4, {2, false});
  EXPECT_EQ(shown.bytes, (std::set<std::pair<std::size_t, std::uint64_t>>{{1, 18}, {1, 19}}));
  shown.touch(touched, 21, 2, {3, false});
  EXPECT_TRUE(shown.bytes.empty());
  touched.forget(0, 19);
  shown.touch(touched, 0, 20, {4, true});
  EXPECT_EQ(shown.bytes, (std::set<std::pair<std::size_t, std::uint64_t>>{{1, 19}, {2, 19}}));
}

TEST(TouchedBytes, AreAsAByteForByteAccountHasThem) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    TouchedBytes touched;
    Shown shown;
    std::vector<std::vector<Touch>> account(64);
    for (std::size_t call = 1; call < 40; ++call) {
      std::uint64_t const begin = random() % 60, count = random() % (64 - begin);
      if (random() % 8 == 0) {
        touched.forget(begin, count);
        for (std::uint64_t at = begin; at < begin + count; ++at) account[at].clear();
        continue;
      }
      Touch const touch{call, random() % 2 == 0};
      shown.touch(touched, begin, count, touch);
      std::set<std::pair<std::size_t, std::uint64_t>> expected;
      for (std::uint64_t at = begin; at < begin + count; ++at) {
        for (Touch const& earlier : account[at])
          if (earlier.writes || touch.writes) expected.emplace(earlier.call, at);
        account[at].push_back(touch);
      }
      EXPECT_EQ(shown.bytes, expected);
    }
  }
}

TEST(TouchedBytes, ReachToTheEndOfTheAddresses) {
  TouchedBytes touched;
  Shown shown;
  shown.touch(touched, ~std::uint64_t{0} - 3, 100, {1, true});
  shown.touch(touched, ~std::uint64_t{0} - 1, 1, {2, true});
  EXPECT_EQ(shown.bytes.size(), 1u);
}

}  // namespace
}  // namespace penstock::cli
