// SPDX-License-Identifier: Apache-2.0
// Tests what a lane makes of a kernel that does not end.
#include <optional>

#include "support/gate.hpp"
#include <gmock/gmock.h>

#include "engine/core/pool.hpp"
#include "engine/lane/lane_contract.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

constexpr std::chrono::milliseconds patience{400};

/// The kernel of tile 0 runs until it is let go, which is after all waits for it were given up.
TEST_P(LaneContract, FailsEachTileOnceAndEndsThoughAKernelDoesNot) {
  if (!kernels().run_beside_each_other()) GTEST_SKIP() << "Here whoever waits for one kernel waits for all.";
  std::optional<support::Hold> hold;
  support::Gate submitted;
  // The lane is kept in its first stage until the kernel stands, and until it has all tiles: its patience begins after.
  open_lane(add_one([&](DeviceTile const& tile, StreamRef stream) {
              if (tile.sequence != 0) return;
              hold.emplace(kernels().hold(stream));
              hold->await_reached();
              submitted.pass();
            }),
            {.flight = {.slots = 2, .patience = patience}, .watchdog = std::chrono::milliseconds(5)});
  for (std::uint64_t i = 0; i < 4; ++i) submit(i);
  submitted.open();
  auto const all = await_seen(4);
  for (std::uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(all[i].sequence, i);
    EXPECT_EQ(all[i].outcome, Outcome::failed);
    EXPECT_THAT(all[i].reason, HasSubstr("finished none of a lane's tiles for 400 ms"));
  }
  bool const knows = GetParam().shape == LaneShape::split || GetParam().transport != Transport::copies;
  EXPECT_EQ(all[0].stage, knows ? "stage" : "device") << "the one it stands at";
  EXPECT_EQ(all[3].stage, "device") << "one that never got there";
  EXPECT_TRUE(device().abandoned());
  EXPECT_TRUE(lane().lost());

  submit(4);
  EXPECT_EQ(await_seen(5)[4].outcome, Outcome::failed) << "nothing is served any more";
  close_lane();
  EXPECT_EQ(pool().on_loan(), 0u);
  EXPECT_EQ(pool().stranded(), 2u) << "those in flight, which the device may still write to; not those that waited";
}

TEST_P(LaneContract, LendsNoTileAgainThatAnAbandonedDeviceMayWriteTo) {
  if (!kernels().run_beside_each_other()) GTEST_SKIP() << "Here whoever waits for one kernel waits for all.";
  Holding held;
  open_lane(add_one_and_hold(held), {.flight = {.slots = 3}});
  Loan held_there = pool().borrow();
  std::uint32_t const first = held_there->index();
  held_there->filled = tile_bytes;
  ASSERT_TRUE(lane().submit(held_there));
  for (std::uint64_t i = 1; i < 3; ++i) submit(i);
  held.await_came(1);
  held.hold->await_reached();
  // Another user of the device ran out of patience.
  device().abandon(Error(ErrorKind::device_lost, "It was given up elsewhere."));
  auto const all = await_seen(3);
  EXPECT_THAT(all[0].reason, HasSubstr("It was given up elsewhere."));
  std::vector<Loan> loans;
  while (auto loan = pool().try_borrow()) {
    EXPECT_NE((*loan)->index(), first);
    loans.push_back(std::move(*loan));
  }
  EXPECT_GE(pool().stranded(), 1u);
  EXPECT_EQ(loans.size() + pool().stranded(), tiles) << "those that waited in the inbox are home";
  close_lane();
}

}  // namespace
}  // namespace penstock
