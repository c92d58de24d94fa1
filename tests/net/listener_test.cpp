// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <vector>

#include "net/a_server.hpp"
#include <sys/resource.h>
#include <unistd.h>

#include "penstock/captures.hpp"
#include "penstock/sockets.hpp"

namespace penstock {
namespace {

using support::AServer;
using support::Peer;
using testing::ElementsAre;

TEST_F(AServer, TurnsAwayMorePeersThanItIsToHave) {
  options.most_connections = 2;
  auto all = peers(2);
  auto const third = peer();
  all[0].send("x\n");
  EXPECT_THAT(tile(), ElementsAre("0:x\n"));
  EXPECT_TRUE(third.is_turned_away());
  EXPECT_EQ(source().counts().refused, 1U);
  EXPECT_THAT(remarks(), testing::HasSubstr("1 connection, turned away"));
}

TEST_F(AServer, TurnsPeersAwayIfTheProcessHasNoDescriptorForThem) {
  auto all = peers(1);
  std::vector<Peer> more;
  for (int k = 0; k < 3; ++k) more.push_back(peer());
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  int const free = dup(0);
  close(free);
  rlimit const none{.rlim_cur = static_cast<rlim_t>(free), .rlim_max = limit.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  all[0].send("x\n");
  EXPECT_THAT(tile(), ElementsAre("0:x\n"));
  for (Peer const& one : more) EXPECT_TRUE(one.is_turned_away());
  setrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_EQ(source().counts().refused, 3U);
  auto const later = peer();
  later.send("y\n");
  EXPECT_THAT(tile(), ElementsAre("1:y\n"));
}

TEST_F(AServer, ListensAtAllAddressesOfTheMachine) {
  address = "tcp:*:0";
  auto const one = peer();
  one.send("one\n");
  EXPECT_THAT(tile(), ElementsAre("0:one\n"));
}

TEST_F(AServer, ListensByIpv6) {
  address = "tcp:[::1]:0";
  try {
    source();
  } catch (Error const& error) {
    GTEST_SKIP() << error.what();
  }
  auto const one = peer();
  one.send("one\n");
  EXPECT_THAT(tile(), ElementsAre("0:one\n"));
}

TEST_F(AServer, ListensAtAPath) {
  address = "unix:" + path("socket");
  {
    auto const one = peer();
    one.send("one\n");
    EXPECT_THAT(tile(), ElementsAre("0:one\n"));
    EXPECT_THROW(ConnectionSource({address}, pool), Error) << "a server answers there";
    file("file", 1);
    EXPECT_THROW(ConnectionSource({"unix:" + path("file")}, pool), Error) << "it is no socket";
  }
  made = nullptr;
  EXPECT_FALSE(std::filesystem::exists(path("socket")));
}

TEST_F(AServer, TakesThePlaceOfASocketFileThatWasLeftBehind) {
  address = "unix:" + path("socket");
  std::filesystem::path const kept = path("kept");
  source();
  std::filesystem::create_hard_link(path("socket"), kept);
  made = nullptr;
  std::filesystem::rename(kept, path("socket"));
  auto const one = peer();
  one.send("one\n");
  EXPECT_THAT(tile(), ElementsAre("0:one\n"));
}

TEST_F(AServer, ListensAtANameWithoutAFile) {
  address = "unix:@penstock-" + std::to_string(getpid());
  auto const one = peer();
  one.send("one\n");
  EXPECT_THAT(tile(), ElementsAre("0:one\n"));
}

TEST_F(AServer, RefusesWhatIsNoAddress) {
  for (auto const* const wrong : {"", "tcp:", "tcp:9000", "tcp:1.2.3.4", "tcp:::1:9000", "tcp:127.0.0.1:99999",
                                  "unix:", "unix:@", "udp:127.0.0.1:0", "tcp:192.0.2.1:0"}) {
    EXPECT_THROW(ConnectionSource({wrong}, pool), Error) << wrong;
  }
  EXPECT_THROW(ConnectionSource({}, pool), Error);
  try {
    ConnectionSource({"tcp:a name with blanks:0"}, pool);
  } catch (Error const& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("getent hosts"));
  }
  EXPECT_THROW(ConnectionSource({source().addresses()[0]}, pool), Error) << "it is taken";
  EXPECT_THROW(ConnectionSource({address}, pool, {.framing = equal_records(65)}), Error);
  EXPECT_THROW(ConnectionSource({address}, pool, {.framing = captured_packets()}), Error);
}

/// Notes what it is told, and what the counts are then.
struct Notes final : ConnectionObserver {
  std::string all;
  ConnectionSource const* source = nullptr;
  void opened(std::uint64_t connection, std::string const& peer) noexcept override {
    all += "+" + std::to_string(source->counts().accepted);
    all += " " + std::to_string(connection) + (peer.starts_with("tcp:127.0.0.1:") ? " tcp" : peer);
  }
  void ended(std::uint64_t connection, ConnectionEnd how, std::uint64_t bytes) noexcept override {
    all += " -" + std::to_string(source->counts().closed);
    all += " " + std::to_string(connection) + (how == ConnectionEnd::closed ? " closed " : " not ") +
           std::to_string(bytes);
  }
};

TEST_F(AServer, TellsOfItsPeers) {
  Notes notes;
  options.observer = &notes;
  options.connections = 1;
  notes.source = &source();
  auto one = peer();
  one.send("one\n");
  one.end();
  EXPECT_EQ(rest(), "0:one\n");
  EXPECT_EQ(notes.all, "+1 0 tcp -1 0 closed 4");
}

}  // namespace
}  // namespace penstock
