// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "course/experiment.hpp"
#include "course/held_stream.hpp"
#include "engine/cpu/cpu_device.hpp"

namespace penstock::lab {
namespace {

using namespace std::chrono_literals;

/// A device that gets back all that it lent. Kernels are so short that nothing but the order of the work can be the
/// reason for what is seen.
struct ARace : testing::Test {
  cpu::CpuDevice device{{.compute_threads = 2}};
  Observation run(Experiment const& experiment) {
    Workbench bench(device, {.kernel_time = 1ns});
    return experiment.run(bench);
  }
  void TearDown() override { EXPECT_EQ(device.outstanding(), cpu::Outstanding{}); }

  static std::vector<std::string> labels(Observation const& seen) {
    std::vector<std::string> labels;
    for (auto const& interval : seen.intervals) labels.push_back(interval.row + ": " + interval.label);
    return labels;
  }
  static Interval const& find(Observation const& seen, std::string const& label) {
    auto const all = labels(seen);
    auto const found = std::find(all.begin(), all.end(), label);
    EXPECT_NE(found, all.end()) << label;
    return seen.intervals.at(static_cast<std::size_t>(found - all.begin()));
  }
};

TEST_F(ARace, OfAStreamThatDoesNotWaitIsLostInAllResults) {
  auto const seen = run(missing_wait());
  EXPECT_EQ(
      seen.verdict.fact,
      "without the event 65536 of 65536 results were wrong, 0 instead of 4; with it all 65536 results were right");
  EXPECT_TRUE(before(find(seen, "consumer, no event: sum"), find(seen, "producer, no event: produce")));
  EXPECT_TRUE(before(find(seen, "producer, event: produce"), find(seen, "consumer, event: sum")));
}

TEST_F(ARace, OfAHostThatFillsTooEarlyIsLostInAllResults) {
  EXPECT_EQ(run(broken_buffers()).verdict.fact,
            "without the event 65536 of 65536 results were wrong, 14 instead of 10; with it all 65536 results were "
            "right");
}

TEST_F(ARace, ForMemoryThatIsUsedAgainIsLostInAllResults) {
  auto const seen = run(reused_memory());
  EXPECT_EQ(seen.verdict.fact,
            "without the event 65536 of 65536 results were wrong, 200 instead of 2; with it all 65536 results were "
            "right");
  EXPECT_TRUE(before(find(seen, "second user, no event: write"), find(seen, "first user, no event: sum")));
  EXPECT_TRUE(before(find(seen, "first user, event: sum"), find(seen, "second user, event: write")));
}

TEST_F(ARace, ToAskForATimeIsNotWonEarly) {
  auto const seen = run(elapsed_early());
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
  EXPECT_EQ(labels(seen), (std::vector<std::string>{"stream: held", "stream: kernel", "host: since", "host: since",
                                                    "host: since", "host: since"}));
}

TEST_F(ARace, ForMemoryInTheOrderOfAStreamIsNone) {
  auto const seen = run(ordered_memory());
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
  auto const places = std::ranges::find(seen.figures, "places that 4 steps in order had", &Figure::what);
  ASSERT_NE(places, seen.figures.end());
  EXPECT_EQ(places->value, 1) << "each step had the bytes of the one before it";
}

TEST_F(ARace, ToTellOfAFaultIsLostByAllCallsButTheOneThatWaits) {
  auto const seen = run(late_error());
  EXPECT_TRUE(seen.verdict.as_expected) << seen.verdict.fact;
  EXPECT_EQ(labels(seen),
            (std::vector<std::string>{"host: launch 1", "host: launch 2", "host: launch 3", "host: record",
                                      "host: synchronize", "host that waits: launch 1", "host that waits: launch 2"}));
  EXPECT_FALSE(device.lost());
}

TEST_F(ARace, WhoseExperimentFailsHoldsNoStream) {
  Workbench bench(device, {.kernel_time = 1ns});
  cpu::CpuDevice strange{{.compute_threads = 1}};
  EXPECT_THROW(
      {
        HeldStream held(device);
        held.hold(bench, "row");
        held.ref().record(strange.make_event());
      },
      Error);
  EXPECT_EQ(bench.intervals().size(), 1u);
}

}  // namespace
}  // namespace penstock::lab
