// SPDX-License-Identifier: Apache-2.0
#include "observe/option_members.hpp"

#include <gtest/gtest.h>

#include "observe/option_table.hpp"
#include "observe/verdict/advice.hpp"

namespace penstock {
namespace {

TEST(AdviceInMembers, SaysWhatAProgramSets) {
  EXPECT_EQ(in_members("--producers 2"), "producers = 2");
  EXPECT_EQ(in_members("--batch 32 --slots 128 --tiles 157"),
            "tuning.batch = 32, tuning.slots = 128, tuning.tiles = 157");
  EXPECT_EQ(in_members("--signal event_poll"), "tuning.signal = SignalKind::event_poll");
  EXPECT_EQ(in_members("--streams own"), "tuning.streams = StreamMode::own");
  EXPECT_EQ(in_members("--streams default"), "tuning.streams = StreamMode::thread_default");
  EXPECT_EQ(in_members("--shape split"), "tuning.shape = LaneShape::split");
  EXPECT_EQ(in_members("--tile 4MiB"), "a tile of 4MiB");
  EXPECT_EQ(in_members("--spin 20"), "tuning.spin = std::chrono::microseconds(20)");
  EXPECT_EQ(in_members("--bind none"), "tuning.bind = Bind::none");
  EXPECT_EQ(in_members("--no-bind"), "tuning.bind = Bind::none");
}

TEST(AdviceInMembers, LeavesWhatIsNoOption) {
  EXPECT_EQ(in_members("--consumers 4 and a sink that they may call at once (parallel_sink)"),
            "consumers = 4 and a sink that they may call at once (parallel_sink)");
  EXPECT_EQ(in_members("a kernel that takes half the time"), "a kernel that takes half the time");
  EXPECT_EQ(in_members("--nothing 3"), "--nothing 3");
  EXPECT_EQ(in_members("--no-producers"), "--no-producers");
  EXPECT_EQ(in_members("with --bind node; look"), "with tuning.bind = Bind::node; look");
  EXPECT_EQ(in_members(""), "");
  Verdict verdict;
  verdict.advice.push_back({per_thread_instead, 2, "It is."});
  EXPECT_EQ(in_members(verdict).advice.front().change, "penstock::penstock instead of penstock::legacy");
}

TEST(AdviceInOptions, IsWhatItWasBeforeItWasInMembers) {
  for (char const* const change :
       {"--producers 2", "--batch 32 --slots 128 --tiles 157", "--signal event_poll", "--streams own",
        "--streams default", "--shape split", "--tile 4MiB", "--spin 20", "--bind none", per_thread_instead,
        "--consumers 4 and a sink that they may call at once (parallel_sink)", "a kernel that takes half the time",
        "with --bind node; look", "half the bytes up: narrower types, or packed, for the stage to unpack", ""}) {
    Verdict verdict;
    verdict.advice.push_back({change, 2, "It is."});
    EXPECT_EQ(in_options(in_members(verdict)).advice.front().change, change);
  }
}

TEST(SentencesInOptions, NameWhatCommandsTake) {
  EXPECT_EQ(in_options("With `run_to_completion`: leave out `slots`, ask for `lanes`."),
            "With --run-to-completion: leave out --slots, ask for --lanes.");
  for (char const* const other :
       {"", "no names", "The row `other` has 1.", "`own_memory` is empty", "a ` alone", "`slots"})
    EXPECT_EQ(in_options(other), other);
}

/// A program that sets them does not compile if the table has another name than the member.
TEST(AdviceInMembers, NamesMembersThatThereAre) {
  PipelineOptions options;
  options.producers = options.lanes = options.consumers = 1;
  options.aim = Aim::latency;
  options.ordered = true;
  options.tuning.slots = options.tuning.batch = 1;
  options.tuning.tiles = options.tuning.memory = 1;
  options.tuning.spin = std::chrono::microseconds(1);
  options.tuning.signal = SignalKind::flag;
  options.tuning.streams = StreamMode::own;
  options.tuning.shape = LaneShape::single;
  options.tuning.transport = Transport::copies;
  options.tuning.graphs = Graphs::never;
  options.tuning.spare = 1;
  options.tuning.run_to_completion = true;
  options.tuning.bind = Bind::none;
  for (OptionRow const& row : option_table()) {
    if (row.kind == OptionKind::size) continue;
    EXPECT_NE(row.text(options), row.preset()) << "name here what is new, as its member is called: " << row.member();
    EXPECT_EQ(row.kind == OptionKind::word, !row.enumeration.empty()) << row.name;
  }
}

}  // namespace
}  // namespace penstock
