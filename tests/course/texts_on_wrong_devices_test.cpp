// SPDX-License-Identifier: Apache-2.0
// Experiments from texts on streams on devices with something wrong: they have to see it.
#include <gtest/gtest.h>

#include "course/experiment.hpp"
#include "course/wrong_device.hpp"

namespace penstock::lab {
namespace {

using support::WrongDevice;

Verdict verdict_on(WrongDevice& device, Experiment const& experiment) {
  Workbench bench(device);
  return experiment.run(bench).verdict;
}

TEST(ADeviceWithOneStream, IsSeenToOverlapNothing) {
  WrongDevice device({.one_stream = true});
  for (auto const& experiment :
       {streams(), short_kernel(), equal_steps(), buffers(), blocking_loop(), slow_callback(), vector_add()}) {
    auto const verdict = verdict_on(device, experiment);
    EXPECT_FALSE(verdict.as_expected) << experiment.name << ": " << verdict.fact;
    EXPECT_FALSE(verdict.disproved) << experiment.name << ": " << verdict.fact;
  }
}

TEST(ADeviceWithOneStream, IsSeenToMakeAWaitForAStreamOneForAll) {
  WrongDevice device({.one_stream = true});
  auto const verdict = verdict_on(device, waits());
  EXPECT_FALSE(verdict.as_expected);
  EXPECT_EQ(verdict.fact, "Stream::synchronize returned when this was over: A, the event, B; it should be A");
}

TEST(ADeviceThatLosesUploads, IsSeenToBringNothingBack) {
  WrongDevice device({.loses_uploads = true});
  for (auto const& experiment : {streams(), short_kernel(), equal_steps(), buffers(), blocking_loop(), vector_add(),
                                 graph_calls(), issue_order(), progression()}) {
    auto const verdict = verdict_on(device, experiment);
    EXPECT_FALSE(verdict.as_expected) << experiment.name << ": " << verdict.fact;
    EXPECT_TRUE(verdict.disproved) << experiment.name << ": " << verdict.fact;
  }
}

TEST(ADeviceThatLosesLaunches, IsSeenToLeaveGraphsUndone) {
  WrongDevice device({.loses_launches = true});
  for (auto const& experiment : {graph_calls(), progression()}) {
    auto const verdict = verdict_on(device, experiment);
    EXPECT_FALSE(verdict.as_expected) << verdict.fact;
    EXPECT_TRUE(verdict.disproved) << verdict.fact;
  }
}

}  // namespace
}  // namespace penstock::lab
