// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/sweep_arguments.hpp"

#include <string>

#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

/// The options of a sweep of the built-in job, with a file to read.
struct AFileToRead : testing::Test {
  CLI::App command;
  AxisOptions axes;
  void SetUp() override {
    axes.add_to(command);
    axes.add_plain_to(command);
  }
  void ask(std::string const& words) { command.parse(words); }
};

TEST_F(AFileToRead, IsRefusedIfNoTileIsFilledFromAFile) {
  ask("--file /dev/null --fill none,memcpy");
  try {
    axes.check({});
    FAIL() << "it was taken";
  } catch (Error const& error) {
    EXPECT_STREQ(error.what(), "--file /dev/null would not be read: add --fill file, or leave --file out.");
  }
}

TEST_F(AFileToRead, IsTakenIfSomeTilesAreFilledFromIt) {
  ask("--file /dev/null --fill none,file");
  EXPECT_NO_THROW(axes.check({}));
}

}  // namespace
}  // namespace penstock::cli
