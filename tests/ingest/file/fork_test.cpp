// SPDX-License-Identifier: Apache-2.0
#include "support/child_of_fork.hpp"

#include "ingest/file/logs_that_are_followed.hpp"

namespace penstock {
namespace {

using followed::LogsThatAreFollowed;

/// Seen to fail where the child ended the watches that it shares with the parent: the source slept for ever.
TEST_F(LogsThatAreFollowed, AreStillWatchedAfterAChildOfForkHasEnded) {
  append("log", "a\n");
  EXPECT_EQ(next(), "0.0@0 a\n");
  EXPECT_EQ(support::exit_code_of_child_that_destroys(*made), 7);
  EXPECT_EQ(next_after([&] { append("log", "b\n"); }), "0.0@2 b\n");
}

}  // namespace
}  // namespace penstock
