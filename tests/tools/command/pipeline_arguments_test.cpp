// SPDX-License-Identifier: Apache-2.0
#include "tools/command/pipeline_arguments.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "penstock/core/error.hpp"

namespace penstock::cli {
namespace {

/// A command with a pipeline's options, and a file with the profile of one for latency.
struct PipelineArgumentsOfACommand : testing::Test {
  CLI::App command;
  PipelineArguments arguments;
  std::filesystem::path file;

  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "profile-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    file = std::filesystem::path(name) / "profile";
    arguments.add_to(command, "any");
    save_profile({.version = "1",
                  .date = "2026-01-01T00:00:00Z",
                  .machine = {.cpus = 1},
                  .tile_bytes = 4096,
                  .options = {.tile = {.input_bytes = 4096},
                              .aim = Aim::latency,
                              .tiles = 8,
                              .producers = 1,
                              .lanes = 1,
                              .consumers = 1,
                              .slots = 4,
                              .spin = PipelineOptions::for_ever},
                  .rate = ProfiledSpread{.median = 1, .least = 1, .most = 1}},
                 file);
  }
  void TearDown() override { std::filesystem::remove_all(file.parent_path()); }
  PipelineOptions options(std::string const& line) {
    command.parse(line);
    return arguments.options();
  }
};

TEST_F(PipelineArgumentsOfACommand, HaveAnAim) {
  EXPECT_EQ(options("").aim, Aim::throughput);
  EXPECT_EQ(options("--aim latency").aim, Aim::latency);
  EXPECT_THROW(options("--aim speed"), Error);
}

TEST_F(PipelineArgumentsOfACommand, TakeTheAimOfAProfileWithHowLongItsLanesSpin) {
  PipelineOptions const taken = options("--profile " + file.string());
  EXPECT_EQ(taken.aim, Aim::latency);
  EXPECT_EQ(taken.spin, PipelineOptions::for_ever);
  EXPECT_EQ(taken.tiles, 8U);
}

TEST_F(PipelineArgumentsOfACommand, LeaveToThePipelineWhatFollowsFromAnotherAimThanTheProfiles) {
  PipelineOptions const named = options("--aim throughput --profile " + file.string());
  EXPECT_EQ(named.aim, Aim::throughput);
  EXPECT_FALSE(named.spin);
  EXPECT_EQ(named.tiles, 0U);
  EXPECT_EQ(named.slots, 4U);
}

}  // namespace
}  // namespace penstock::cli
