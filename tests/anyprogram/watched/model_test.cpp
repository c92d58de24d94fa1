// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/model.hpp"

#include <gtest/gtest.h>

#include "anyprogram/watched/log_builder.hpp"

namespace penstock::cli {
namespace {

constexpr std::uint8_t up = 1, down = 2;
constexpr std::uint64_t one = 0x111, other = 0x222;

/// Two streams, microseconds: uploads 0-10 and 10-20, kernels 10-25 and 25-40, downloads 25-30 and 40-45.
LogBuilder two_tiles() {
  LogBuilder program;
  program.stream(one, false).stream(other, false);
  program.copy(one, 1, 2, 4).did(WatchKind::copy, 1'000, 11'000, up, 2, 3, 11);
  program.launch(one).did(WatchKind::kernel, 11'000, 26'000, 0, 0, 0, 11);
  program.copy(one, 2, 1, 4).did(WatchKind::copy, 26'000, 31'000, down, 3, 2, 11);
  program.copy(other, 3, 4, 4).did(WatchKind::copy, 11'000, 21'000, up, 2, 3, 12);
  program.launch(other).did(WatchKind::kernel, 26'000, 41'000, 0, 0, 0, 12);
  program.copy(other, 4, 3, 4).did(WatchKind::copy, 41'000, 46'000, down, 3, 2, 12);
  return program;
}

TEST(WatchModel, HasTheTimesThatAHandCalculationHas) {
  WatchLog const log = two_tiles().log();
  WatchModel const model(log);
  EXPECT_EQ(model.window(), (Interval{1'000, 46'000}));
  EXPECT_EQ(model.serial(), 60'000);
  EXPECT_EQ(model.possible(), 30'000);
  EXPECT_DOUBLE_EQ(*model.text_overlap(), 1 - 45.0 / 60);
  // 60 of work in 45 of time, where 30 would be possible.
  EXPECT_DOUBLE_EQ(*model.overlap().overlap, 15.0 / 30);
  EXPECT_DOUBLE_EQ(*model.overlap().speed_of_light, 30.0 / 45);
}

TEST(WatchModel, PutsWorkBesideItsCallAndItsStream) {
  WatchLog const log = two_tiles().log();
  WatchModel const model(log);
  ASSERT_EQ(model.works().size(), 6u);
  EXPECT_EQ(model.streams().size(), 2u);
  EXPECT_EQ(model.streams()[0].handle, one);
  EXPECT_FALSE(model.streams()[0].blocking);
  EXPECT_EQ(model.streams()[0].busy, 30'000);
  Work const& last = model.works().back();
  EXPECT_EQ(last.call->stream, other);
  EXPECT_EQ(last.kind, WorkKind::download);
  EXPECT_EQ(last.ready, 41'000);
}

TEST(WatchModel, KnowsWhenSeveralStreamsHaveWork) {
  WatchLog const log = two_tiles().log();
  WatchModel const model(log);
  // The second stream has work from its first call on, 20 ns apart, until the first stream's is done.
  Interval const expected{110, 31'000};
  EXPECT_EQ(model.several().intervals().all(), std::vector{expected});
  EXPECT_EQ(model.several().within(0, 100'000), 31'000 - 110);
  EXPECT_EQ(model.several().within(30'000, 100'000), 1'000);
  EXPECT_EQ(model.several().within(31'000, 100'000), 0);
  EXPECT_EQ(model.several().within(0, 110), 0);
}

TEST(WatchModel, HasTheTimeInWhichTheDeviceDidAnythingForSeveralProcesses) {
  LogBuilder second;
  second.fill(one, 1, 4).did(WatchKind::fill, 40'000, 56'000).fill(one, 1, 4).did(WatchKind::fill, 60'000, 61'000);
  std::vector<WatchLog> const logs{two_tiles().log(), second.log()};
  EXPECT_EQ(busy_time(logs), 55'000 + 1'000);
  EXPECT_EQ(busy_time({}), 0);
}

TEST(WatchModel, OfALogWithoutWorkHasNone) {
  LogBuilder program;
  program.stream(one);
  WatchLog const log = program.log();
  WatchModel const model(log);
  EXPECT_TRUE(model.works().empty());
  EXPECT_FALSE(model.text_overlap());
  EXPECT_EQ(model.possible(), 0);
}

}  // namespace
}  // namespace penstock::cli
