// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "support/child_of_fork.hpp"

#include "ingest/net/a_server.hpp"

namespace penstock {
namespace {

using support::AServer;

/// Seen to fail where the child removed the file of the address.
TEST_F(AServer, IsStillFoundAfterAChildOfForkHasEnded) {
  address = "unix:" + path("socket");
  auto const before = peer();
  EXPECT_EQ(support::exit_code_of_child_that_destroys(*made), 7);
  ASSERT_TRUE(std::filesystem::exists(path("socket")));
  auto const after = peer();
  before.send("one\n");
  EXPECT_THAT(tile(), testing::ElementsAre("0:one\n"));
  after.send("two\n");
  EXPECT_THAT(tile(), testing::ElementsAre("1:two\n"));
}

}  // namespace
}  // namespace penstock
