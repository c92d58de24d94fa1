// SPDX-License-Identifier: Apache-2.0
#include "ingest/net/connection.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace penstock {
namespace {

/// Another thread may give it up while it is told that its peer closed it. Seen to fail if the end alone is counted:
/// then a server that has all peers that it may have neither takes nor refuses others.
TEST(AConnection, IsNoLongerToBeClosedOnceItIsGone) {
  Ending ending{{}};
  ConnectionSourceOptions const options{.framing = lines()};
  ConnectionLedger ledger(ending, options, 100);
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
  {
    Connection connection(ends[0], ledger.open("a peer"), ledger, options);
    close(ends[1]);
    std::vector<std::byte> tile(64);
    Contents contents{.input = tile};
    EXPECT_FALSE(connection.ready(contents));
    connection.give_up();
    EXPECT_TRUE(ledger.has_some_to_close());
  }
  EXPECT_FALSE(ledger.has_some_to_close());
  EXPECT_EQ(ledger.counts().closed, 1U);
}

}  // namespace
}  // namespace penstock
