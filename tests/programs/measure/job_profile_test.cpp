// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/job_profile.hpp"

#include <gtest/gtest.h>

#include "penstock/error.hpp"
#include "programs/measure/built_in.hpp"

namespace penstock::measure {
namespace {

/// A profile of a job with two options that take lists and one that does not.
struct AProfileOfAJob : testing::Test {
  Job job{.name = "count",
          .options = {number_option("bins", "So many", 4, 1, 64), word_option("order", "In which", {"any", "sorted"}),
                      file_option("input", "The file")}};
  Profile profile{.job = {.streams = "own", .name = "count", .options = {{"bins", "12"}, {"order", "sorted"}}},
                  .tile_bytes = 4096,
                  .options = {.tile = {.input_bytes = 4096}, .producers = 3}};

  std::string refusal() const {
    try {
      axis_values(job, profile, "its.profile");
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      return error.what();
    }
    return "";
  }
  void expect_refusal(std::string const& sentence) const {
    EXPECT_EQ(refusal(), "its.profile: " + sentence + ": make a new one with penstock_measure_tests tune --save.");
  }
};

TEST_F(AProfileOfAJob, HasTheValuesOfTheJobsOwnOptions) {
  auto const values = axis_values(job, profile, "its.profile");
  EXPECT_EQ(values.at("bins"), "12");
  EXPECT_EQ(values.at("order"), "sorted");
  EXPECT_EQ(values.at("streams"), "own");
  EXPECT_EQ(values.at("producers"), "3");
  EXPECT_EQ(values.at("tile"), "4096");
  EXPECT_FALSE(values.contains("work") || values.contains("sink")) << "of these it says nothing";
}

TEST_F(AProfileOfAJob, OfAnotherJobIsRefused) {
  job.name = "sum";
  expect_refusal("It was made for the job 'count', and not for the job 'sum'");
  job.name = "";
  expect_refusal("It was made for the job 'count', and not for penstock's own work");
  job.name = "count";
  profile.job = {.work = "copy", .fill = "none", .direction = "in"};
  expect_refusal("It was made for penstock's own work, and not for the job 'count'");
}

TEST_F(AProfileOfAJob, FromBeforeJobsHadNamesIsTaken) {
  profile.job.name.clear();
  profile.job.options.clear();
  EXPECT_EQ(refusal(), "");
}

TEST_F(AProfileOfAJob, WithAnOptionThatTheJobDoesNotHaveIsRefused) {
  profile.job.options["input"] = "/proc/self/exe";
  expect_refusal("It has a value of --input, which is no option of this job that takes a list");
  profile.job.options.erase("input");
  profile.job.options["colour"] = "red";
  expect_refusal("It has a value of --colour, which is no option of this job that takes a list");
}

TEST_F(AProfileOfAJob, WithAValueThatTheOptionDoesNotTakeIsRefused) {
  profile.job.options["bins"] = "65";
  expect_refusal("It has --bins '65': give a whole number from 1 to 64");
}

TEST_F(AProfileOfAJob, OfPenstockHasItsWork) {
  profile.job = {.work = "copy", .fill = "none", .direction = "in", .streams = "default", .sink = "graph"};
  auto const values = axis_values(built_in_job(), profile, "its.profile");
  EXPECT_EQ(values.at("work"), "copy");
  EXPECT_EQ(values.at("direction"), "in");
}

}  // namespace
}  // namespace penstock::measure
