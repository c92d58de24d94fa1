// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/axis.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "penstock/error.hpp"
#include "penstock/job.hpp"

namespace penstock::measure {
namespace {

using Values = std::vector<std::string>;

TEST(Axis, IsAListARangeOrOneThatMultiplies) {
  EXPECT_EQ(parse_axis("producers", "1,2,4").values, (Values{"1", "2", "4"}));
  EXPECT_EQ(parse_axis("lanes", "2..5").values, (Values{"2", "3", "4", "5"}));
  EXPECT_EQ(parse_axis("slots", "1..16*2").values, (Values{"1", "2", "4", "8", "16"}));
  EXPECT_EQ(parse_axis("slots", "1..20*3,64").values, (Values{"1", "3", "9", "64"}));
  EXPECT_EQ(parse_axis("tile", "4KiB..64KiB*4,1MiB").values, (Values{"4096", "16384", "65536", "1048576"}));
}

TEST(Axis, SaysSizesInBytesAndWordsAsTheyAre) {
  EXPECT_EQ(parse_axis("tile", "4KiB,1MiB").values, (Values{"4096", "1048576"}));
  EXPECT_EQ(parse_axis("memory", "1MiB..4MiB*2,0").values, (Values{"1048576", "2097152", "4194304", "0"}));
  EXPECT_EQ(parse_axis("signal", "callback,event_poll").values, (Values{"callback", "event_poll"}));
  EXPECT_EQ(parse_axis("work", "copy,busy:20").values, (Values{"copy", "busy:20us"}));
  EXPECT_EQ(parse_axis("fill", "memcpy,busy:20").values, (Values{"memcpy", "busy:20us"}));
  EXPECT_EQ(parse_axis("lanes", "1,producers").values, (Values{"1", "producers"}));
}

/// Every refusal names the option and says what would do.
TEST(Axis, RefusesWhatIsNoneWithARemedy) {
  struct Wrong {
    char const* name;
    char const* list;
    char const* remedy;
  };
  for (Wrong const wrong :
       {Wrong{"producers", "", "give a list"},
        Wrong{"producers", "1,,2", "give a list"},
        Wrong{"producers", "4..1", "give a list"},
        Wrong{"producers", "4..1", "the smaller value, 1..4;"},
        Wrong{"producers", "16..1*2", "the smaller value, 1..16*2;"},
        Wrong{"producers", "4..0*2", "1..16*2."},
        Wrong{"tile", "1MiB..4KiB*4", "the smaller value, 4KiB..1MiB*4; or give a list as in 1MiB,4KiB."},
        Wrong{"producers", "0..8*2", "give a list"},
        Wrong{"producers", "1..8*1", "give a list"},
        Wrong{"producers", "x", "whole numbers"},
        Wrong{"producers", "1,1", "once"},
        Wrong{"producers", "1..100", "fewer"},
        Wrong{"producers", "4000000000000", "whole numbers"},
        Wrong{"tile", "3", "multiple of 4"},
        Wrong{"tile", "2GiB", "1 GiB"},
        Wrong{"tile", "4KiB..16KiB", "4KiB..1MiB*4"},
        Wrong{"tile", "4KiB..some*2", "4KiB..1MiB*4"},
        Wrong{"tile", "4KiB..1MiB*2KiB", "4KiB..1MiB*4"},
        Wrong{"transport", "mule", "automatic, copies, mapped"},
        Wrong{"graphs", "perhaps", "automatic, never, always"},
        Wrong{"shape", "round", "split, single"},
        Wrong{"aim", "high", "throughput, latency"},
        Wrong{"work", "busy:soon", "busy:20us"},
        Wrong{"fill", "busy:soon", "busy:20us"},
        Wrong{"colour", "red", "no axis"}}) {
    try {
      parse_axis(wrong.name, wrong.list);
      ADD_FAILURE() << wrong.name << " " << wrong.list << " was taken";
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      EXPECT_NE(std::string(error.what()).find(wrong.remedy), std::string::npos) << error.what();
    }
  }
}

TEST(Axes, HaveEveryCombinationAsAPoint) {
  std::vector<Axis> const axes{parse_axis("producers", "1,2"), parse_axis("tile", "4KiB,64KiB,1MiB")};
  auto const points = points_of(axes);
  ASSERT_EQ(points.size(), 6u);
  EXPECT_EQ(points[0].values, (Values{"1", "4096"}));
  EXPECT_EQ(points[1].setting.tile, 65536u);
  EXPECT_EQ(points[5].setting.pipeline.producers, 2u);
  EXPECT_EQ(points[5].setting.tile, std::size_t{1} << 20);
}

TEST(Axes, RefuseMorePointsThanAnybodyWaitsFor) {
  std::vector<Axis> const axes{parse_axis("producers", "1..64"), parse_axis("lanes", "1..64")};
  EXPECT_THROW(points_of(axes), Error);
}

TEST(Setting, RefusesCombinationsThatCannotBe) {
  Setting hash{.tile = 3000, .values = {{"work", "hash"}}};
  EXPECT_THROW(hash.options(), Error) << "not a power of two";
  Setting out_of_hash{.values = {{"work", "hash"}, {"direction", "out"}}};
  EXPECT_THROW(out_of_hash.options(), Error);
  Setting filled_out{.values = {{"fill", "memcpy"}, {"direction", "out"}}};
  EXPECT_THROW(filled_out.options(), Error);
}

TEST(Setting, HasOnePartForEachDirectionAndBothInPlace) {
  Setting setting{.tile = 4096};
  EXPECT_EQ(setting.shape_of_tile(), (TileShape{.input_bytes = 4096, .output_bytes = 4096, .in_place = true}));
  setting.values.set("direction", "in");
  EXPECT_EQ(setting.shape_of_tile(), (TileShape{.input_bytes = 4096}));
  setting.values.set("direction", "out");
  EXPECT_EQ(setting.shape_of_tile(), (TileShape{.output_bytes = 4096}));
}

/// Seen to fail if the bound is for every aim: of the aim only the lanes were left.
TEST(Setting, HasThoseWhoWaitWatchAsLongAsLanesIfTheAimIsLatency) {
  Setting setting;
  set(setting, "spin", "5000");
  EXPECT_EQ(setting.options().tuning.spin, std::chrono::microseconds(5000));
  EXPECT_EQ(setting.options().tuning.borrow_spin, std::chrono::microseconds(20));
  set(setting, "aim", "latency");
  EXPECT_EQ(setting.options().tuning.borrow_spin, std::chrono::microseconds(5000));
  set(setting, "spin", "0");
  EXPECT_EQ(setting.options().tuning.borrow_spin, std::chrono::microseconds(0));
  set(setting, "spin", "default");
  EXPECT_EQ(setting.options().tuning.borrow_spin, std::nullopt);
}

TEST(Setting, CanHaveALaneForEachThread) {
  Setting setting;
  set(setting, "producers", "6");
  set(setting, "lanes", "producers");
  EXPECT_EQ(setting.options().lanes, 6u);
}

/// A job whose sink needs the order of the source.
struct AnOrderedJob : testing::Test {
  Job job{.name = "radio", .ordered = true};

  std::string preset(Job const& of) const {
    auto const kinds = axis_kinds(of);
    return std::ranges::find(kinds, "ordered", &AxisKind::name)->preset;
  }
};

TEST_F(AnOrderedJob, HasItsOrderInItsResults) {
  EXPECT_EQ(preset(job), "yes");
  job.ordered = false;
  EXPECT_EQ(preset(job), "no");
}

TEST_F(AnOrderedJob, RefusesToDoWithout) {
  EXPECT_EQ(parse_axis("ordered", "yes", {.job = &job}).values, Values{"yes"});
  try {
    parse_axis("ordered", "yes,no", {.job = &job});
    FAIL() << "it was taken";
  } catch (Error const& error) {
    EXPECT_STREQ(error.what(), "--ordered 'no': this job takes results in the order of its input: leave it out.");
  }
}

}  // namespace
}  // namespace penstock::measure
