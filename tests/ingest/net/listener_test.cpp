// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ingest/net/a_server.hpp"
#include "penstock/ingest/framing.hpp"
#include "penstock/ingest/sockets.hpp"

namespace penstock {
namespace {

using support::AServer;
using support::Peer;
using testing::ElementsAre;

/// This process has no descriptor beyond those that are open.
struct NoMoreDescriptors {
  rlimit before{};

  NoMoreDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before);
    int const free = dup(0);
    close(free);
    rlimit const none{.rlim_cur = static_cast<rlim_t>(free), .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  NoMoreDescriptors(NoMoreDescriptors const&) = delete;
  NoMoreDescriptors& operator=(NoMoreDescriptors const&) = delete;
  ~NoMoreDescriptors() { setrlimit(RLIMIT_NOFILE, &before); }
};

TEST_F(AServer, TurnsAwayMorePeersThanItIsToHave) {
  options.most_connections = 2;
  options.spared = std::chrono::hours(1);
  auto all = peers(2);
  auto const third = peer();
  all[0].send("x\n");
  EXPECT_THAT(tile(), ElementsAre("0:x\n"));
  EXPECT_TRUE(third.is_turned_away());
  EXPECT_EQ(source().counts().refused, 1U);
  EXPECT_THAT(remarks(), testing::HasSubstr("1 connection, turned away"));
}

TEST_F(AServer, TurnsPeersAwayIfTheProcessHasNoDescriptorForThem) {
  options.spared = std::chrono::hours(1);
  auto all = peers(1);
  std::vector<Peer> more;
  for (int k = 0; k < 3; ++k) more.push_back(peer());
  {
    NoMoreDescriptors const none;
    all[0].send("x\n");
    EXPECT_THAT(tile(), ElementsAre("0:x\n"));
    for (Peer const& one : more) EXPECT_TRUE(one.is_turned_away());
  }
  EXPECT_EQ(source().counts().refused, 3U);
  auto const later = peer();
  later.send("y\n");
  EXPECT_THAT(tile(), ElementsAre("1:y\n"));
}

TEST_F(AServer, ClosesASilentPeerInFavourOfOneThatFindsNoDescriptor) {
  options.spared = {};
  auto const all = peers(1);
  auto const second = peer();
  second.send("y\n");
  {
    NoMoreDescriptors const none;
    EXPECT_THAT(tile(), ElementsAre("1:y\n"));
  }
  EXPECT_TRUE(all[0].is_turned_away());
  EXPECT_EQ(source().counts().silent, 1U);
  EXPECT_EQ(source().counts().refused, 0U);
  EXPECT_THAT(remarks(), testing::HasSubstr("1 connection, closed from here, since it was silent"));
}

TEST_F(AServer, ClosesSilentPeersInFavourOfThoseThatAreTooMany) {
  options.spared = {};
  options.most_connections = 2;
  auto const all = peers(2);
  auto const third = peer();
  third.send("y\n");
  EXPECT_THAT(tile(), ElementsAre("2:y\n"));
  EXPECT_TRUE(all[0].is_turned_away());
  EXPECT_EQ(source().counts().refused, 0U);
}

TEST_F(AServer, ClosesAPeerThatIsSilentForTooLong) {
  options.longest_silence = std::chrono::milliseconds(10);
  options.connections = 1;
  auto const one = peer();
  one.send("hello\n");
  EXPECT_EQ(rest(), "0:hello\n");
  EXPECT_EQ(source().counts().silent, 1U);
  EXPECT_TRUE(source().counts().loss.none());
}

TEST_F(AServer, ClosesAPeerWhoseRecordTakesTooLong) {
  options.longest_record = std::chrono::milliseconds(10);
  options.connections = 1;
  auto const one = peer();
  one.send("hello\nand");
  EXPECT_EQ(rest(), "0:hello\n");
  EXPECT_EQ(source().counts().silent, 1U);
  EXPECT_EQ(source().counts().loss.unfinished, 1U);
}

/// The part of a record that is kept counts as one that has begun.
TEST_F(AServer, ClosesAPeerWhoseRecordFillsATileAndHasNoEnd) {
  options.longest_record = std::chrono::milliseconds(10);
  options.last_may_lack_delimiter = true;
  options.connections = 1;
  auto const one = peer();
  one.send("hello\n" + std::string(tile_bytes, 'x'));
  EXPECT_EQ(rest(), "0:hello\n");
  EXPECT_EQ(source().counts().silent, 1U);
  EXPECT_EQ(source().counts().loss.unfinished, 1U);
}

TEST_F(AServer, KeepsNoMoreOfUnfinishedRecordsThanItMay) {
  options.most_unfinished = 1;  // At least a tile is kept.
  std::vector<Peer> all;
  for (int k = 0; k < 5; ++k) {
    all.push_back(peer());
    all.back().send(std::string(30, 'x'));
  }
  auto const last = peer();
  for (int k = 0; k < 100 && source().counts().silent < 3; ++k) {
    last.send("x\n");
    EXPECT_THAT(tile(), ElementsAre("5:x\n"));
  }
  EXPECT_EQ(source().counts().silent, 3U) << "two of 30 bytes are less than 64";
  EXPECT_TRUE(all[0].is_turned_away()) << "it began first";
  all[4].send("\n");
  EXPECT_THAT(tile(), ElementsAre("4:" + std::string(30, 'x') + "\n"));
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

TEST_F(AServer, LeavesThePathToAServerThatIsAboutToListen) {
  int const locked = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(flock(locked, LOCK_EX), 0);
  int const other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  NetAddress const where = unix_address(path("socket"));
  ASSERT_EQ(bind(other, where.raw(), where.bytes), 0);
  std::string said;
  std::thread second([&] {
    try {
      ConnectionSource const source({"unix:" + path("socket")}, pool);
    } catch (Error const& error) {
      said = error.what();
    }
  });
  EXPECT_EQ(listen(other, 1), 0);
  EXPECT_EQ(flock(locked, LOCK_UN), 0);
  second.join();
  EXPECT_THAT(said, testing::HasSubstr("Another server answers at " + path("socket")));
  EXPECT_TRUE(std::filesystem::exists(path("socket")));
  close(other);
  close(locked);
}

/// Seen to wait for ever.
TEST_F(AServer, SaysSoIfAnotherProcessKeepsTheLockOfItsFolder) {
  int const locked = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(flock(locked, LOCK_EX), 0);
  EXPECT_THROW(ConnectionSource({"unix:" + path("socket")}, pool), Error);
  close(locked);
}

TEST_F(AServer, IsTheOnlyOneOfManyThatBeginAtAPath) {
  constexpr int servers = 8;
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> refused{0};
    std::vector<std::unique_ptr<ConnectionSource>> all(servers);
    {
      std::vector<std::jthread> threads;
      for (auto& one : all) {
        threads.emplace_back([&] {
          try {
            one = std::make_unique<ConnectionSource>(std::vector{"unix:" + path("socket")}, pool);
          } catch (Error const&) {
            ++refused;
          }
        });
      }
    }
    EXPECT_EQ(refused, servers - 1);
    EXPECT_FALSE(Peer("unix:" + path("socket")).descriptor() < 0);
  }
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
