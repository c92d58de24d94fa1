// SPDX-License-Identifier: Apache-2.0
#include "ingest/net/connection_group.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "engine/core/descriptor.hpp"

namespace penstock {
namespace {

/// Reads all that there is.
class Reading final : public Pollable {
 public:
  explicit Reading(int socket) : socket_(socket) {}
  int descriptor() const noexcept override { return socket_.number; }
  bool ready(Contents& contents) override {
    ssize_t const got = recv(socket_.number, contents.room().data(), contents.room().size(), MSG_DONTWAIT);
    if (got > 0) contents.add(0, 0, static_cast<std::size_t>(got));
    return got != 0;
  }

 private:
  Descriptor const socket_;
};

/// A group of two connections, each with a peer.
struct AGroupOfConnections : testing::Test {
  Ending ending{std::stop_token()};
  ConnectionGroup group{ending};
  std::vector<std::byte> memory = std::vector<std::byte>(std::size_t{1} << 20);
  std::vector<std::unique_ptr<Descriptor>> peers;
  std::size_t room = 0;  ///< Size of a connection's buffer.

  void SetUp() override {
    for (int k = 0; k < 2; ++k) {
      std::array<int, 2> pair{};
      ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.data()), 0);
      int given = 0;
      socklen_t bytes = sizeof given;
      ASSERT_EQ(getsockopt(pair[0], SOL_SOCKET, SO_RCVBUF, &given, &bytes), 0);
      room = static_cast<std::size_t>(given);
      group.adopt(std::make_unique<Reading>(pair[0]));
      peers.push_back(std::make_unique<Descriptor>(pair[1]));
    }
  }
  /// The nap that follows one in which the peers sent so much.
  std::int64_t nap_behind(std::size_t first, std::size_t second) {
    group.nap();
    std::array<std::size_t, 2> const sizes{first, second};
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      std::string const bytes(sizes[k], 'x');
      EXPECT_EQ(send(peers[k]->number, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    }
    Contents contents{.input = memory};
    while (group.receive(contents)) {
    }
    EXPECT_EQ(contents.bytes, first + second);
    return group.nap().count();
  }
};

TEST_F(AGroupOfConnections, TakesNapsThatGrowWhileLittleWaitsInEachBuffer) {
  std::size_t const little = room / 16, much = room / 8 + 1;
  std::vector<std::int64_t> lengths;
  for (auto const& [first, second] : {std::pair{little, little},
                                      {1UL, little},
                                      {little, 1UL},
                                      {1UL, much},
                                      {much, 1UL},
                                      {little, little},
                                      {0UL, 0UL}}) {
    lengths.push_back(nap_behind(first, second));
  }
  EXPECT_THAT(lengths, testing::ElementsAre(200, 400, 800, 400, 200, 400, 400));
}

}  // namespace
}  // namespace penstock
