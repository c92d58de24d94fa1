// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/step_times.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

using std::chrono::nanoseconds;

/// A producer, a stream and an inbox.
struct ThreeRows : testing::Test {
  enum Row : std::uint32_t { producer, stream, inbox };
  Recording recording;

  ThreeRows() {
    recording.rows = {
        {"ps-fill-0", RecordRow::Kind::thread}, {"upload", RecordRow::Kind::stream}, {"inbox", RecordRow::Kind::queue}};
  }
  void put(Row row, Step step, std::int64_t begin, std::int64_t end) {
    recording.passages.push_back({recording.passages.size(), row, step, begin, end});
  }
};

TEST_F(ThreeRows, HaveTimesForEachStepThatATileWasInAndNoOther) {
  for (std::int64_t length = 1; length <= 100; ++length) put(stream, Step::upload, 1000, 1000 + length);
  put(producer, Step::fill, 0, 70);
  auto const times = step_times(recording);
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].step, Step::fill);
  EXPECT_EQ(times[0].mean, nanoseconds(70));
  EXPECT_EQ(times[1].step, Step::upload);
  EXPECT_EQ(times[1].passages, 100u);
  EXPECT_EQ(times[1].total, nanoseconds(5050));
  EXPECT_EQ(times[1].mean, nanoseconds(50));
  EXPECT_EQ(times[1].p50, nanoseconds(50));
  EXPECT_EQ(times[1].p99, nanoseconds(99));
  EXPECT_EQ(times[1].most, nanoseconds(100));
}

TEST_F(ThreeRows, AreBusyForTheTimeInWhichTheyDidAnything) {
  put(producer, Step::fill, 0, 40);
  put(producer, Step::host, 30, 50);
  put(stream, Step::upload, 50, 60);
  put(stream, Step::upload, 90, 100);
  auto const rows = row_times(recording);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[producer].busy, nanoseconds(50));
  EXPECT_DOUBLE_EQ(rows[producer].share, 0.5);
  EXPECT_DOUBLE_EQ(rows[stream].share, 0.2);
  EXPECT_DOUBLE_EQ(rows[inbox].share, 0);
  EXPECT_EQ(rows[inbox].name, "inbox");
}

TEST_F(ThreeRows, AreNotBusyWhenTheyWaitUnlessWaitingIsAllTheyAreFor) {
  put(producer, Step::borrow, 0, 80);
  put(producer, Step::fill, 80, 100);
  put(inbox, Step::inbox, 20, 60);
  put(inbox, Step::inbox, 40, 70);
  auto const rows = row_times(recording);
  EXPECT_EQ(rows[producer].busy, nanoseconds(20));
  EXPECT_EQ(rows[inbox].busy, nanoseconds(50));
}

TEST_F(ThreeRows, WithoutAPassageHaveNoTimes) {
  EXPECT_TRUE(step_times(recording).empty());
  for (RowTimes const& row : row_times(recording)) EXPECT_EQ(row.share, 0);
}

}  // namespace
}  // namespace penstock
