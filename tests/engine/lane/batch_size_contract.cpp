// SPDX-License-Identifier: Apache-2.0
// Tests how many large tiles a lane puts on its device at once where it takes up to eight.
#include <algorithm>

#include "engine/lane/batch_contract.hpp"

namespace penstock {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LaneOfLargeBatches);

namespace {

/// Seen to fail without a limit to the first ones, and with one that counts to 16.
TEST_P(LaneOfLargeBatches, PutsMoreAtOnceTheMoreItHasPut) {
  // It lets go of the first at the second, so that it always has some, and never more than a stream's queue takes.
  held.at = {0, 39};
  open();
  for (std::uint64_t i = 0; i < 72; ++i) submit(i);
  door.open();
  held.await_came(72);
  Batches expected;
  for (std::uint64_t i = 0; i < 64; ++i) expected.push_back({i});
  for (std::uint64_t i = 64; i < 72; i += 2) expected.push_back({i, i + 1});
  EXPECT_EQ(batches(), expected);
  held.hold->open();
  lane().close();
  expect_all_done(seen(), 72);
}

/// Seen to fail if it counts on.
TEST_P(LaneOfLargeBatches, CountsHalfOnceItHadNothing) {
  later_at = 72;
  open();
  for (std::uint64_t i = 0; i < 72; ++i) submit(i);
  door.open();
  await_seen(72);
  held.await_asleep();
  for (std::uint64_t i = 72; i < 80; ++i) submit(i);
  later.open();
  lane().close();
  auto const all = batches();
  ASSERT_GE(all.size(), 8u);
  EXPECT_TRUE(std::all_of(all.end() - 8, all.end(), [](auto const& together) { return together.size() == 1; }));
  expect_all_done(seen(), 80);
}

}  // namespace
}  // namespace penstock
