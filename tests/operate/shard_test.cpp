// SPDX-License-Identifier: Apache-2.0
#include "penstock/operate/shard.hpp"

#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;
using testing::Optional;

std::optional<Shard> shard_with(std::map<std::string, std::string> const& variables) {
  return shard_of_batch_system([&](std::string const& name) -> std::optional<std::string> {
    auto const found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

void expect_refused(std::map<std::string, std::string> const& variables, std::string const& sentence) {
  try {
    shard_with(variables);
    ADD_FAILURE() << "not refused";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    EXPECT_THAT(error.what(), HasSubstr(sentence));
    EXPECT_THAT(error.what(), HasSubstr("name the shard, such as 3/16"));
  }
}

TEST(AShard, HasEachPieceInOneOfThem) {
  for (std::size_t piece = 0; piece < 100; ++piece) {
    int owners = 0;
    for (std::size_t number = 1; number <= 7; ++number) owners += Shard{number, 7}.has(piece) ? 1 : 0;
    EXPECT_EQ(owners, 1) << piece;
    EXPECT_TRUE(Shard{}.has(piece));
  }
}

TEST(AShard, IsReadFromItsText) {
  EXPECT_EQ(shard_of("3/16"), (Shard{3, 16}));
  EXPECT_EQ(shard_of("1/1"), Shard{});
  for (char const* text : {"", "3", "/", "0/4", "5/4", "a/4", "3/", "/4", "-1/4", "3/4/5", "1/100001", " 1/2"}) {
    try {
      shard_of(text);
      ADD_FAILURE() << text;
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      EXPECT_THAT(error.what(), HasSubstr("such as 3/16"));
    }
  }
}

TEST(AShard, IsWhatTheBatchSystemSaid) {
  EXPECT_EQ(shard_with({}), std::nullopt);
  EXPECT_THAT(shard_with({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "8"}}), Optional(Shard{1, 8}));
  EXPECT_THAT(shard_with({{"PMI_RANK", "7"}, {"PMI_SIZE", "8"}}), Optional(Shard{8, 8}));
  EXPECT_THAT(shard_with({{"SLURM_PROCID", "2"}, {"SLURM_STEP_NUM_TASKS", "4"}}), Optional(Shard{3, 4}));
  EXPECT_THAT(shard_with({{"SLURM_ARRAY_TASK_ID", "7"},
                          {"SLURM_ARRAY_TASK_MIN", "1"},
                          {"SLURM_ARRAY_TASK_STEP", "2"},
                          {"SLURM_ARRAY_TASK_COUNT", "5"}}),
              Optional(Shard{4, 5}));
}

TEST(AShard, IsOneOfTheTasksOfEachTaskOfAnArray) {
  EXPECT_THAT(shard_with({{"SLURM_ARRAY_TASK_ID", "3"},
                          {"SLURM_ARRAY_TASK_MIN", "1"},
                          {"SLURM_ARRAY_TASK_COUNT", "5"},
                          {"SLURM_PROCID", "1"},
                          {"SLURM_STEP_NUM_TASKS", "4"}}),
              Optional(Shard{10, 20}));
  EXPECT_THAT(shard_with({{"SLURM_ARRAY_TASK_ID", "2"},
                          {"SLURM_ARRAY_TASK_MIN", "1"},
                          {"SLURM_ARRAY_TASK_COUNT", "4"},
                          {"OMPI_COMM_WORLD_RANK", "1"},
                          {"OMPI_COMM_WORLD_SIZE", "2"}}),
              Optional(Shard{4, 8}));
}

/// A batch script is one process, though Slurm says how many tasks its job may have.
TEST(AShard, IsAllOfTheWorkInABatchScript) {
  EXPECT_EQ(shard_with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "16"}}), std::nullopt);
}

/// Its tasks were started by MPI, and Slurm sees one.
TEST(AShard, IsWhatMpiSaidBelowSlurm) {
  EXPECT_THAT(shard_with({{"OMPI_COMM_WORLD_RANK", "5"},
                          {"OMPI_COMM_WORLD_SIZE", "8"},
                          {"SLURM_PROCID", "0"},
                          {"SLURM_STEP_NUM_TASKS", "1"}}),
              Optional(Shard{6, 8}));
}

TEST(AShard, IsRefusedWhereTheNumbersCannotBe) {
  expect_refused({{"PMI_RANK", "x"}, {"PMI_SIZE", "8"}}, "PMI_RANK is 'x', which is no number");
  expect_refused({{"PMI_RANK", "8"}, {"PMI_SIZE", "8"}}, "PMI_RANK is 8, and PMI_SIZE is 8");
  expect_refused({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "0"}}, "SLURM_STEP_NUM_TASKS is 0");
  // --array=1,5,7
  expect_refused({{"SLURM_ARRAY_TASK_ID", "7"}, {"SLURM_ARRAY_TASK_MIN", "1"}, {"SLURM_ARRAY_TASK_COUNT", "3"}},
                 "use an array without gaps, such as --array=1-3");
}

TEST(AShard, HasFilesOfItsOwn) {
  EXPECT_EQ(name_for({3, 16}, "run/ledger"), "run/ledger-03-of-16");
  EXPECT_EQ(name_for({}, "ledger"), "ledger");
}

}  // namespace
}  // namespace penstock
