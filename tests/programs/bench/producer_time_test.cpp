// SPDX-License-Identifier: Apache-2.0
#include "programs/bench/producer_time.hpp"

#include <chrono>
#include <string>

#include "programs/bench/six_points.hpp"

namespace penstock::cli {
namespace {

using std::chrono::milliseconds;

/// A sweep whose points ran for two seconds each, of which the window had one. Producers fill for 2 ms a tile and wait
/// for 1 ms.
struct ProducersOfSixPoints : SixPoints {
  void SetUp() override {
    SixPoints::SetUp();
    for (measure::PointResult& result : results) {
      measure::Trial& trial = *result.last;
      trial.metered = {.tiles = result.tiles_per_second[0], .seconds = 1};
      trial.report.wall = milliseconds(2000);
      trial.report.tiles_done = static_cast<std::uint64_t>(2 * result.tiles_per_second[0]);
      trial.report.fill = milliseconds(2) * trial.report.tiles_done;
      trial.report.borrow_wait = milliseconds(1) * trial.report.tiles_done;
    }
  }
};

TEST_F(ProducersOfSixPoints, HaveTimeBesideFillingAndWaiting) {
  auto const time = producer_time(results[0]);
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->fill, 2e-3, 1e-9);
  EXPECT_NEAR(time->wait, 1e-3, 1e-9);
  EXPECT_NEAR(time->beside, 7e-3, 1e-9) << "10 ms in all";
  EXPECT_NEAR(producer_time(results[2])->all(), 4.0 / 240, 1e-9) << "of four producers";
}

/// Seen to fail if resting counts.
TEST_F(ProducersOfSixPoints, DoNotCountTheirRest) {
  results[2].last->report.producers_rest = milliseconds(4000);
  EXPECT_NEAR(producer_time(results[2])->all(), 2.0 / 240, 1e-9) << "two of the four rested all the time";
}

/// Seen to fail with the source's time in the run.
TEST_F(ProducersOfSixPoints, FillAsLongAsTheyDoAlone) {
  results[2].ceilings = Ceilings{.fill = 4000};
  EXPECT_NEAR(producer_time(results[2])->fill, 1e-3, 1e-9) << "four of them fill 4,000 a second";
  EXPECT_NEAR(producer_time(results[2])->all(), 4.0 / 240, 1e-9);
  results[2].ceilings->fill = 400;
  EXPECT_NEAR(producer_time(results[2])->fill, 2e-3, 1e-9) << "the run did better";
}

TEST_F(ProducersOfSixPoints, HaveNoTimeWhereNoneFilled) {
  results[0].last->report.fill = {};
  EXPECT_FALSE(producer_time(results[0]));
  results[1].last->options.tuning.run_to_completion = true;
  EXPECT_FALSE(producer_time(results[1])) << "lanes fill then";
  results[2].last.reset();
  EXPECT_FALSE(producer_time(results[2]));
}

TEST_F(ProducersOfSixPoints, SayWhatATileTakesOfThem) {
  std::string const text = producer_time_text(axes, results);
  EXPECT_NE(
      text.find("A tile's time of a producer: tile 4 KiB: with 1 it is 10.0 ms: 2.0 ms to fill it, 1.0 ms until one "
                "is free, 7.0 ms beside; with 4 it is "),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("\nBeside: to ask the source, to send the tile on, and to wait for a CPU.\n"), std::string::npos);
}

TEST_F(ProducersOfSixPoints, SayNothingWhereTheyFillNothing) {
  for (auto& result : results)
    result.last->report.fill = std::chrono::nanoseconds(100) * result.last->report.tiles_done;
  EXPECT_EQ(producer_time_text(axes, results), "");
}

TEST_F(ProducersOfSixPoints, SayNothingWhereOtherThreadsAreSwept) {
  axes[1].name = "lanes";
  EXPECT_EQ(producer_time_text(axes, results), "");
}

}  // namespace
}  // namespace penstock::cli
