// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <stop_token>
#include <string>
#include <thread>

#include "support/thread_state.hpp"
#include <gmock/gmock.h>
#include <sys/socket.h>

#include "egress/sink/folder_of_sinks.hpp"
#include "engine/core/descriptor.hpp"
#include "engine/machine/net_address.hpp"
#include "penstock/egress/sinks.hpp"

namespace penstock {
namespace {

using support::numbered;
using testing::AnyOf;
using testing::HasSubstr;

// NOLINTNEXTLINE(bugprone-string-constructor): it has to be that large.
std::string const more_than_the_system_keeps(16'000'000, 'm');

/// A server that listens, and the connection that a sink made to it.
struct ASocketSink : support::FolderOfSinks, testing::WithParamInterface<bool> {
  Descriptor server, peer;
  std::string address;
  std::stop_source stop;

  void SetUp() override {
    FolderOfSinks::SetUp();
    NetAddress where = GetParam() ? resolve("127.0.0.1:0", SOCK_STREAM).front() : unix_address(path("socket"));
    server.number = socket(where.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(bind(server.number, where.raw(), where.bytes), 0);
    ASSERT_EQ(listen(server.number, 1), 0);
    address = (GetParam() ? "tcp:" : "unix:") + text_of(address_of(server.number));
  }
  SinkOptions options(std::size_t piece) const {
    return {.piece_bytes = piece, .stop = stop.get_token(), .patience = std::chrono::milliseconds(0)};
  }
  void accept_one() { peer.number = accept4(server.number, nullptr, nullptr, SOCK_CLOEXEC); }
  /// All that comes until the sink closes; "reset" behind it, if it does not close as it should.
  std::string read_all() const {
    std::string text, piece(10'000, '\0');
    for (;;) {
      ssize_t const got = recv(peer.number, piece.data(), piece.size(), 0);
      if (got < 0) return text + "reset";
      if (got == 0) return text;
      text.append(piece, 0, static_cast<std::size_t>(got));
    }
  }
};

TEST_P(ASocketSink, SendsRecordsAndEnds) {
  SocketSink sink(address, options(1 << 20));
  accept_one();
  sink.append(numbered(0, 10));
  sink.append(numbered(10, 20));
  sink.close();
  sink.close();
  EXPECT_EQ(read_all(), numbered(0, 30));
  EXPECT_EQ(sink.counts().written, 240U);
  EXPECT_THAT(problem_of([&] { sink.append("x"); }), HasSubstr("is closed"));
}

TEST_P(ASocketSink, LosesNothingIfItsPeerAnswers) {
  {
    SocketSink sink(address, options(0));
    accept_one();
    // Most of it waits on the side of the sink, whose system keeps as much.
    int const little = 16'384;
    setsockopt(peer.number, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
    sink.append(numbered(0, 15'000));
    ASSERT_EQ(send(peer.number, "thanks", 6, 0), 6);
  }
  EXPECT_TRUE(read_all() == numbered(0, 15'000)) << "and no reset";
}

TEST_P(ASocketSink, WaitsUntilItsPeerEndsToo) {
  SocketSink sink(address, {.patience = std::chrono::hours(1)});
  accept_one();
  std::atomic<bool> ended = false;
  std::jthread const reads([&] {
    static_cast<void>(read_all());
    send(peer.number, "thanks", 6, 0);
    ended = true;
    peer.shut();
  });
  sink.append(numbered(0, 30));
  sink.close();
  EXPECT_TRUE(ended);
}

TEST_P(ASocketSink, EndsItsWaitForTheEndOfItsPeerAtAStop) {
  SocketSink sink(address, {.stop = stop.get_token(), .patience = std::chrono::hours(1)});
  accept_one();
  std::atomic<pid_t> thread = 0;
  std::jthread const closes([&] {
    thread = gettid();
    sink.close();
  });
  EXPECT_EQ(read_all(), "");
  support::await_asleep(thread);
  stop.request_stop();
}

TEST_P(ASocketSink, WaitsForASlowPeer) {
  SocketSink sink(address, options(1 << 20));
  accept_one();
  std::atomic<pid_t> thread = 0;
  std::jthread const appends([&] {
    thread = gettid();
    sink.append(more_than_the_system_keeps);
    sink.append("the end\n");
    sink.close();
  });
  while (thread == 0) std::this_thread::yield();
  support::await_asleep(thread);
  EXPECT_EQ(sink.counts().written, 0U);
  EXPECT_TRUE(read_all() == more_than_the_system_keeps + "the end\n");
}

TEST_P(ASocketSink, EndsItsWaitAtAStopAndLetsThePeerKnow) {
  std::string problem;
  {
    SocketSink sink(address, options(0));
    accept_one();
    std::atomic<pid_t> thread = 0;
    std::jthread appends([&] {
      thread = gettid();
      problem = problem_of([&] { sink.append(more_than_the_system_keeps); });
    });
    while (thread == 0) std::this_thread::yield();
    support::await_asleep(thread);
    stop.request_stop();
  }
  EXPECT_THAT(problem, HasSubstr(address + " took less than all records: a stop was requested while it took none."));
  EXPECT_THAT(problem, HasSubstr("and a part of another"));
  EXPECT_EQ(read_all().ends_with("reset"), GetParam()) << "a socket of the Unix domain knows no reset";
}

TEST_P(ASocketSink, SaysThatItsPeerIsGone) {
  SocketSink sink(address, options(0));
  accept_one();
  peer.shut();
  std::string const problem = problem_of([&] {
    for (;;) sink.append("a record\n");  // The system of TCP hears of it by the answer to what it sends.
  });
  EXPECT_THAT(problem, HasSubstr(address + " took less than all records ("));
  EXPECT_THAT(problem, AnyOf(HasSubstr("Broken pipe"), HasSubstr("Connection reset by peer")));
  EXPECT_THAT(problem, HasSubstr("see that its reader reads all, or name another address."));
}

TEST_P(ASocketSink, IsRefusedWhereNoServerIs) {
  server.shut();
  EXPECT_THAT(problem_of([&] { SocketSink sink(address); }),
              testing::StartsWith("Nothing can be sent to " + address + ": Connection refused"));
  EXPECT_THAT(problem_of([&] { SocketSink sink("udp:127.0.0.1:9"); }), HasSubstr("begins with tcp: or unix:"));
}

INSTANTIATE_TEST_SUITE_P(, ASocketSink, testing::Bool(),
                         [](auto const& of) { return std::string(of.param ? "tcp" : "unix"); });

}  // namespace
}  // namespace penstock
