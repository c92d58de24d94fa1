// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <functional>
#include <memory>
#include <span>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "penstock/error.hpp"
#include "programs/measure/trial.hpp"

namespace penstock::measure {
namespace {

/// A job that fills numbers of this type into tiles for floats.
template <class Number>
Job job_that_fills() {
  return {.shape = [](JobPoint const& point) { return tile_of<float>(point.tile_bytes / sizeof(float)); },
          .make =
              [](JobPoint const&) {
                auto const fill = [](TilePlace, std::span<Number> input) { return input.size(); };
                using Filled = decltype(generate(3, fill));
                return JobWork{.source = [fill](Pool const&) { return std::make_unique<Filled>(generate(3, fill)); },
                               .stages = on_device([](DeviceTileOf<float>, StreamRef) {}),
                               .sink = {}};
              }};
}

/// Commands run jobs in three ways, each with wrappers of its own around the source.
struct AJobForTilesOfFloats : testing::Test {
  cpu::CpuDevice device{{.compute_threads = 1}};
  TrialOptions options{.warm_up = {}, .window = std::chrono::milliseconds(5)};
  Setting setting{.pipeline = {.producers = 1, .lanes = 1}, .tile = 4096};

  static void expect_refused(std::function<void()> const& measure) {
    try {
      measure();
      ADD_FAILURE() << "it ran";
    } catch (Error const& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("The source fills the input of a tile for real numbers of 8 bytes"));
    }
  }
};

/// Seen to fail where UntilStopped, UntilFailed or RepeatedSource has no types.
TEST_F(AJobForTilesOfFloats, IsRefusedIfItFillsDoubles) {
  Job const doubles = job_that_fills<double>();
  setting.job = &doubles;
  expect_refused([&] { run_whole(device, setting, options, {}); });
  expect_refused([&] { run_trial(device, setting, options, {}); });
  expect_refused([&] { run_open_loop(device, setting, 1000, options, {}); });
}

TEST_F(AJobForTilesOfFloats, RunsIfItFillsFloats) {
  Job const floats = job_that_fills<float>();
  setting.job = &floats;
  EXPECT_TRUE(run_whole(device, setting, options, {}).report.ok());
  EXPECT_TRUE(run_trial(device, setting, options, {}));
  EXPECT_TRUE(run_open_loop(device, setting, 1000, options, {}));
}

}  // namespace
}  // namespace penstock::measure
