// SPDX-License-Identifier: Apache-2.0
// A child of fork has a copy of a pipeline and its device, and none of their threads.
#include <cstdlib>
#include <optional>

#include "support/child_of_fork.hpp"
#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

constexpr int of_the_child = 7;

/// Forks with a pipeline that is started, and has its lanes, consumers and threads of the device.
[[noreturn]] void fork_with_a_live_pipeline() {
  alarm(300);
  static cpu::CpuDevice device({.compute_threads = 1});
  static Pipeline pipeline(device, {.tile = {.input_bytes = 64}, .lanes = 2, .tuning = {.tiles = 4}});
  pipeline.start(on_device([](DeviceTile const&, StreamRef) { return std::size_t{0}; }), [](Completion&) {});
  pipeline.feed().submit(pipeline.feed().borrow());
  int const code = support::exit_code_of_child([] { return of_the_child; });
  if (!pipeline.drain().ok()) std::_Exit(2);
  std::exit(code);
}

TEST(AChildOfFork, EndsByExitAndLeavesThePipelineToItsParent) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(fork_with_a_live_pipeline(), testing::ExitedWithCode(of_the_child), "");
}

}  // namespace
}  // namespace penstock
