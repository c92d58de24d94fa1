// SPDX-License-Identifier: Apache-2.0
#include "programs/command/arguments.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

/// Returns what is said of `text`; nothing, if it will do.
std::string said(CLI::Validator const& check, std::string text) {
  return check(text);
}

TEST(NumberCheck, TakesBothEndsOfARange) {
  for (char const* const text : {"0", "0.7", "1", "1.0", "1e-3"})
    EXPECT_EQ(said(number_between(0, 1, "a part"), text), "");
  for (char const* const text : {"1", "100"}) EXPECT_EQ(said(whole_number(1, 100), text), "");
}

TEST(NumberCheck, SaysARangeInPlainNumbers) {
  EXPECT_EQ(said(number_between(0, 3600, "a number of seconds"), "3600.5"),
            "'3600.5' is not a number of seconds from 0 to 3600");
  EXPECT_EQ(said(number_between(0.5, 1e5, "a part"), "0.4"), "'0.4' is not a part from 0.5 to 100000");
  EXPECT_EQ(said(whole_number(10, 60'000), "9"), "'9' is not a whole number from 10 to 60000");
  EXPECT_EQ(said(whole_number(10, 60'000), "60001"), "'60001' is not a whole number from 10 to 60000");
}

TEST(NumberCheck, SaysWhatWouldDoWhereThereIsNoMost) {
  auto const check = number_above_zero("a number of times", "1.5");
  EXPECT_EQ(said(check, "1e-9"), "");
  for (char const* const text : {"0", "-1", "nan", "inf", "1e400", "x", ""})
    EXPECT_EQ(said(check, text), "'" + std::string(text) + "' is not a number of times above 0, as in 1.5");
}

TEST(NumberCheck, RefusesWhatIsNoNumber) {
  for (char const* const text : {"nan", "-0.1", "1.1", "inf", "x", "", "1x"})
    EXPECT_NE(said(number_between(0, 1, "a part"), text), "") << text;
  for (char const* const text : {"-1", "1.5", "nan", "0x10", "", "5s", "99999999999999999999"})
    EXPECT_NE(said(whole_number(0, 100), text), "") << text;
}

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
                              .producers = 1,
                              .lanes = 1,
                              .consumers = 1,
                              .tuning = {.tiles = 8, .slots = 4, .spin = Tuning::for_ever}},
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
  EXPECT_EQ(taken.tuning.spin, Tuning::for_ever);
  EXPECT_EQ(taken.tuning.tiles, 8U);
}

TEST_F(PipelineArgumentsOfACommand, LeaveToThePipelineWhatFollowsFromAnotherAimThanTheProfiles) {
  PipelineOptions const named = options("--aim throughput --profile " + file.string());
  EXPECT_EQ(named.aim, Aim::throughput);
  EXPECT_FALSE(named.tuning.spin);
  EXPECT_EQ(named.tuning.tiles, 0U);
  EXPECT_EQ(named.tuning.slots, 4U);
}

TEST(SlowerOption, PutsTheFactorBehindEachModelThatHasNone) {
  SlowerOption const slower{.factor = 30};
  EXPECT_EQ(slower.applied_to("model:h200,model:h100@30"), "model:h200@30,model:h100@30");
  EXPECT_EQ(slower.applied_to("model:a@b.json"), "model:a@b.json@30");
  EXPECT_THROW(static_cast<void>(slower.applied_to("model:h200@40")), Error);
}

}  // namespace
}  // namespace penstock::cli
