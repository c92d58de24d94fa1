// SPDX-License-Identifier: Apache-2.0
#include "lease/supervised_process.hpp"

#include <csignal>
#include <optional>

#include <gtest/gtest.h>
#include <poll.h>

namespace penstock {
namespace {

/// Looks until the process has ended.
int end_of(SupervisedProcess& process) {
  for (;;) {
    if (auto const end = process.look()) return *end;
    poll(nullptr, 0, 1);
  }
}

TEST(ASupervisedProcess, TellsItsCodeOnce) {
  SupervisedProcess process({"/bin/sh", "-c", "exit 7"}, {});
  EXPECT_EQ(end_of(process), 7);
  EXPECT_EQ(process.look(), std::nullopt);
}

TEST(ASupervisedProcess, IsSeenToBeStoppedToGoOnAndToBeKilled) {
  SupervisedProcess process({"/bin/sleep", "3600"}, {});
  for (int const signal : {SIGSTOP, SIGCONT, SIGSTOP}) {
    kill(process.id(), signal);
    while (process.is_stopped() != (signal == SIGSTOP)) {
      EXPECT_EQ(process.look(), std::nullopt);
      poll(nullptr, 0, 1);
    }
  }
  kill(process.id(), SIGKILL);
  EXPECT_EQ(end_of(process), -SIGKILL);
  EXPECT_FALSE(process.is_stopped());
  EXPECT_EQ(process.look(), std::nullopt);
}

TEST(ASupervisedProcess, EndsOnceHoweverCloselyThatFollowsAStop) {
  for (int k = 0; k < 50; ++k) {
    SupervisedProcess process({"/bin/sleep", "3600"}, {});
    for (int const signal : {SIGSTOP, SIGCONT}) {
      kill(process.id(), signal);
      EXPECT_EQ(process.look(), std::nullopt);
    }
    kill(process.id(), SIGKILL);
    EXPECT_EQ(end_of(process), -SIGKILL);
  }
}

}  // namespace
}  // namespace penstock
