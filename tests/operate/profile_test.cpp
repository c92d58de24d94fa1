// SPDX-License-Identifier: Apache-2.0
#include "a_profile.hpp"

namespace penstock {
namespace {

TEST_F(AProfile, NeedNotKnowItsMachine) {
  profile.machine = {};
  EXPECT_EQ(parse_profile(profile_text(profile), "it").difference_to({.cpus = 8}), "") << "not known is no difference";
}

TEST_F(AProfile, SetsWhatItFoundAndNothingThatStageOrSinkWouldNotice) {
  PipelineOptions wanted{.tile = {.input_bytes = 8},
                         .producers = 7,
                         .ordered = true,
                         .parallel_sink = true,
                         .tuning = {.streams = StreamMode::own, .bind = Bind::none}};
  PipelineOptions const options = profile.apply(wanted);
  EXPECT_EQ(options.producers, 3u);
  EXPECT_EQ(options.lanes, 4u);
  EXPECT_EQ(options.consumers, 2u);
  EXPECT_EQ(options.tuning.slots, 24u);
  EXPECT_EQ(options.tuning.tiles, 99u);
  EXPECT_EQ(options.tuning.memory, std::size_t{5} << 20);
  EXPECT_EQ(options.aim, Aim::latency);
  EXPECT_EQ(options.tuning.signal, SignalKind::flag);
  EXPECT_EQ(options.tuning.transport, Transport::copies);
  EXPECT_EQ(options.tuning.graphs, Graphs::never);
  EXPECT_EQ(options.tile, wanted.tile) << "whoever has a shape keeps it";
  EXPECT_EQ(options.tuning.streams, StreamMode::own);
  EXPECT_TRUE(options.ordered);
  EXPECT_TRUE(options.parallel_sink);
  EXPECT_FALSE(options.tuning.sink_on_lanes);
  EXPECT_EQ(options.tuning.bind, Bind::none);
  EXPECT_EQ(profile.apply({}).tile, profile.options.tile);
}

TEST_F(AProfile, MapsTilesOnlyOfAStageThatAllowsIt) {
  profile.options.tuning.transport = Transport::mapped;
  EXPECT_EQ(profile.apply({}).tuning.transport, Transport::automatic);
}

TEST_F(AProfile, SaysIfItWasMadeElsewhere) {
  EXPECT_EQ(profile.difference_to(profile.machine), "");
  ProfiledMachine other = profile.machine;
  other.driver = "2.0";
  EXPECT_EQ(profile.difference_to(other), "") << "drivers come and go";
  other.cpu.clear();
  EXPECT_EQ(profile.difference_to(other), "") << "nobody knows that it is another";
  other = {.cpu = "Another CPU", .cpus = 9, .device = "CPU device", .flavour = "per-thread"};
  std::string const sentence = profile.difference_to(other);
  for (char const* const words : {"Some GPU, not CPU device", "Some CPU, not Another CPU", "8, not 9",
                                  "legacy, not per-thread", "but tune may"}) {
    EXPECT_NE(sentence.find(words), std::string::npos) << sentence;
  }
}

}  // namespace
}  // namespace penstock
