// SPDX-License-Identifier: Apache-2.0
#include "programs/tune/free_axes.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock::measure {
namespace {

using Values = std::vector<std::string>;

/// Options that a pipeline would choose on a machine with eight CPUs.
struct FreeAxes : testing::Test {
  PipelineOptions defaults{.tile = {.input_bytes = std::size_t{1} << 20},
                           .producers = 5,
                           .lanes = 2,
                           .consumers = 1,
                           .tuning = {.batch = 8, .slots = 32}};
  SearchBounds bounds{.cpus = 8};

  Axis axis(std::string const& name, std::string const& list) {
    return search_axes({{name, list}}, defaults, bounds).front();
  }
};

TEST_F(FreeAxes, HaveCountsInStepsOfAHalfAndTheDefaultAmongThem) {
  EXPECT_EQ(axis("producers", "free").values, (Values{"1", "2", "3", "4", "5", "6", "8", "12", "16"}));
  EXPECT_EQ(axis("lanes", "free").values, (Values{"1", "2", "3", "4", "6", "8"}));
  EXPECT_TRUE(ordered(axis("lanes", "free")));
}

TEST_F(FreeAxes, HaveSizesInPowersOfTwo) {
  auto const values = axis("tile", "free").values;
  EXPECT_EQ(values.front(), "4096");
  EXPECT_EQ(values.back(), std::to_string(16 << 20));
  EXPECT_EQ(values.size(), 13u);
}

TEST_F(FreeAxes, HaveEverySignalInNoOrder) {
  EXPECT_EQ(axis("signal", "free").values.size(), all_signal_kinds.size());
  EXPECT_FALSE(ordered(axis("signal", "free")));
  EXPECT_FALSE(ordered(axis("lanes", "1,producers")));
  EXPECT_FALSE(ordered(axis("producers", "0,1"))) << "0 is not less than 1, it is the machine's choice";
}

TEST_F(FreeAxes, HaveTheShapesAndTheAimsThatThereAre) {
  EXPECT_EQ(axis("shape", "free").values, (Values{"split", "single"}));
  EXPECT_EQ(axis("aim", "free").values, (Values{"throughput", "latency"}));
}

TEST_F(FreeAxes, HaveWhatAnyStageAllowsAndNoMoreThanThat) {
  EXPECT_EQ(axis("transport", "free").values, (Values{"automatic", "copies"}));
  EXPECT_EQ(axis("graphs", "free").values, (Values{"automatic", "never", "always"}));
  EXPECT_FALSE(ordered(axis("graphs", "free")));
}

TEST_F(FreeAxes, TakeTheValuesOfAKnownSettingWhereTheyBelong) {
  AxisLists const lists{{"producers", "free"}, {"lanes", "1,2"}, {"signal", "free"}};
  auto axes = search_axes(lists, defaults, bounds);
  AxisLists const known{{"producers", "7"}, {"lanes", "5"}, {"signal", "flag"}, {"tile", "4KiB"}};
  auto const before = axes;
  add_known(axes, lists, known);
  EXPECT_EQ(axes[0].values, (Values{"1", "2", "3", "4", "5", "6", "7", "8", "12", "16"}));
  EXPECT_EQ(axes[1].values, before[1].values) << "a list is a choice";
  EXPECT_EQ(axes[2].values, before[2].values) << "it is among them";
  Levels const levels = levels_of_known(axes, {0, 1, 0}, known);
  EXPECT_EQ(axes[0].values[levels[0]], "7");
  EXPECT_EQ(levels[1], 1U) << "no such value";
  EXPECT_EQ(axes[2].values[levels[2]], "flag");
  EXPECT_THROW(add_known(axes, lists, {{"producers", "many"}}), Error);
}

TEST_F(FreeAxes, HaveTheValuesOfAListInIncreasingOrder) {
  EXPECT_EQ(axis("producers", "8,1,4").values, (Values{"1", "4", "8"}));
}

TEST_F(FreeAxes, KnowWhereOptionsAreOnThem) {
  std::vector<Axis> const axes =
      search_axes({{"producers", "free"}, {"slots", "free"}, {"batch", "free"}, {"signal", "free"}, {"graphs", "free"}},
                  defaults, bounds);
  defaults.tuning.graphs = Graphs::always;
  Point const point = point_at(axes, levels_of(axes, defaults));
  EXPECT_EQ(point.setting.pipeline.producers, 5u);
  EXPECT_EQ(point.setting.pipeline.tuning.slots, 32u);
  EXPECT_EQ(point.setting.pipeline.tuning.batch, 8u);
  EXPECT_EQ(point.setting.pipeline.tuning.signal, SignalKind::callback);
  EXPECT_EQ(point.setting.pipeline.tuning.graphs, Graphs::always);
}

TEST_F(FreeAxes, AreAtTheNearestBelowIfTheyHaveNotTheDefault) {
  std::vector<Axis> const axes = search_axes({{"producers", "1,4,16"}}, defaults, bounds);
  EXPECT_EQ(point_at(axes, levels_of(axes, defaults)).setting.pipeline.producers, 4u);
}

TEST(AJob, IsNotForASearchToChoose) {
  for (auto const& [name, list] : AxisLists{{"work", "copy,hash"},
                                            {"fill", "free"},
                                            {"direction", "in,out"},
                                            {"streams", "free"},
                                            {"sink", "graph,lanes"}}) {
    try {
      default_setting({{name, list}});
      ADD_FAILURE() << name << " " << list << " was taken";
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      EXPECT_NE(std::string(error.what()).find("name one value"), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(default_setting({{"direction", "out"}, {"fill", "memcpy"}}), Error) << "cannot be";
  EXPECT_EQ(default_setting({{"work", "hash"}, {"producers", "free"}}).values.text("work"), "hash");
}

}  // namespace
}  // namespace penstock::measure
