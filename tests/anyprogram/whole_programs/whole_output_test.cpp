// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/whole_programs/whole_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Two programs of which each of three runs takes 4 s.
struct WholeProgramsThatMostlyStart : testing::Test {
  WholeComparison compared{"as it is", "otherwise", {}};
  void SetUp() override {
    WholeRun one;
    one.end.wall = 4s;
    one.end.cpu = 3s;
    one.end.output.add("out\n");
    for (int round = 0; round < 3; ++round) {
      compared.add(Contender::baseline, one, true);
      compared.add(Contender::candidate, one, true);
    }
  }
};

TEST_F(WholeProgramsThatMostlyStart, AreComparedByTheTimeOfTheGpuAsWell) {
  compared.set_gpu(Contender::baseline, 0.4);
  compared.set_gpu(Contender::candidate, 0.2);
  std::string const sentence =
      "A GPU works for 10 % of the time, and that work took 0.400 s as it is and 0.200 s otherwise, in one watched run "
      "of each: 2.000 times as fast. The rest is the start and work of the CPU.";
  EXPECT_EQ(gpu_sentence(compared), sentence);
  EXPECT_THAT(as_text(compared), HasSubstr("\n" + sentence + "\n"));
  auto const json = as_members(compared);
  EXPECT_EQ(json.at("gpu_ratio"), 2.0);
  EXPECT_EQ(json.at("sentences").at(1), sentence);
  EXPECT_EQ(json.at("effect"), "no difference") << "which is that of the wall times";
}

TEST_F(WholeProgramsThatMostlyStart, AreComparedByWallTimeAloneIfAGpuWorksForMostOfIt) {
  compared.set_gpu(Contender::baseline, 2);
  compared.set_gpu(Contender::candidate, 1);
  EXPECT_THAT(gpu_sentence(compared), IsEmpty());
  EXPECT_EQ(as_members(compared).at("gpu_ratio"), 2.0);
}

TEST_F(WholeProgramsThatMostlyStart, AreComparedByWallTimeAloneIfGpuTimeIsNotKnown) {
  compared.set_gpu(Contender::baseline, 0.4);
  EXPECT_THAT(gpu_sentence(compared), IsEmpty());
  compared.set_gpu(Contender::candidate, 0);
  EXPECT_THAT(gpu_sentence(compared), IsEmpty());
  EXPECT_TRUE(as_members(compared).at("gpu_ratio").is_null());
  EXPECT_THAT(as_text(compared), Not(HasSubstr("A GPU works")));
}

TEST_F(WholeProgramsThatMostlyStart, HaveARowForEachRun) {
  auto const rows = rows_of(compared);
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[4].dump(), R"({"side":"otherwise","run":2,"wall_s":4.0,"cpu_s":3.0})");
}

}  // namespace
}  // namespace penstock::cli
