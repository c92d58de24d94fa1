// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "support/thread_state.hpp"
#include <gmock/gmock.h>

#include "egress/sink/folder_of_sinks.hpp"
#include "engine/core/descriptor.hpp"
#include "penstock/egress/sinks.hpp"

namespace penstock {
namespace {

using support::numbered;
using testing::HasSubstr;

/// A pipe, and a sink that writes to it.
struct APipeSink : support::FolderOfSinks {
  int reader = -1, writer = -1;
  std::stop_source stop;
  void SetUp() override {
    FolderOfSinks::SetUp();
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    reader = ends[0];
    writer = ends[1];
  }
  void TearDown() override {
    end_reader();
    if (writer >= 0) close(writer);
    FolderOfSinks::TearDown();
  }
  void end_reader() {
    if (reader >= 0) close(std::exchange(reader, -1));
  }
  std::string read_some(std::size_t bytes) const {
    std::string text(bytes, '\0');
    ssize_t const got = read(reader, text.data(), bytes);
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
  }
  std::size_t room() const { return static_cast<std::size_t>(fcntl(writer, F_GETPIPE_SZ)); }
  FileSinkOptions options(std::size_t piece) const {
    return {.writing = {.piece_bytes = piece, .stop = stop.get_token(), .patience = std::chrono::milliseconds(0)}};
  }
};

TEST_F(APipeSink, WaitsForASlowReader) {
  FileSink sink(writer, "the pipe", options(1000));
  std::atomic<pid_t> thread = 0;
  std::jthread const appends([&] {
    thread = gettid();
    for (int k = 0; k < 100; ++k) sink.append(numbered(k * 1000, 1000));
    sink.close();
  });
  while (thread == 0) std::this_thread::yield();
  support::await_asleep(thread);
  EXPECT_LT(sink.counts().written, 100'000U);
  std::string text;
  while (text.size() < 800'000U) text += read_some(7001);
  EXPECT_TRUE(text == numbered(0, 100'000));
}

TEST_F(APipeSink, KeepsTheRecordsOfSeveralThreadsWhole) {
  FileSink sink(writer, "the pipe", options(0));
  std::atomic<pid_t> first = 0, second = 0;
  std::jthread const appends([&] {
    first = gettid();
    sink.append(numbered(0, 100'000));
  });
  while (first == 0) std::this_thread::yield();
  support::await_asleep(first);
  std::jthread const appends_too([&] {
    second = gettid();
    for (int k = 0; k < 100; ++k) sink.append("another\n");
  });
  while (second == 0) std::this_thread::yield();
  support::await_asleep(second);
  std::string text;
  while (text.size() < 800'800U) text += read_some(1001);
  std::string others;
  for (int k = 0; k < 100; ++k) others += "another\n";
  EXPECT_TRUE(text == numbered(0, 100'000) + others);
}

TEST_F(APipeSink, EndsItsWaitAtAStop) {
  FileSink sink(writer, "the pipe", options(1 << 20));
  std::atomic<pid_t> thread = 0;
  std::string problem;
  std::jthread appends([&] {
    thread = gettid();
    problem = problem_of([&] {
      sink.append(numbered(0, 100'000));
      sink.close();
    });
  });
  while (thread == 0) std::this_thread::yield();
  support::await_asleep(thread);
  stop.request_stop();
  appends.join();
  EXPECT_THAT(problem,
              HasSubstr("the pipe took less than all records: a stop was requested while it took none. It got 0 "
                        "bytes in whole records, and a part of another."));
}

TEST_F(APipeSink, EndsItsWaitBetweenRecords) {
  FileSink sink(writer, "the pipe", options(1 << 20));
  std::string problem;
  std::jthread appends([&] {
    // Records of eight bytes: the pipe is full behind one of them.
    for (int k = 0; k < 100'000; ++k) sink.append(numbered(k, 1));
    problem = problem_of([&] { sink.close(); });
  });
  for (int held = 0; held < static_cast<int>(room()); std::this_thread::yield()) {
    ASSERT_EQ(ioctl(reader, FIONREAD, &held), 0);
  }
  stop.request_stop();
  appends.join();
  EXPECT_THAT(problem, HasSubstr("It got " + std::to_string(room()) + " bytes in whole records."));
  std::string text;
  while (text.size() < room()) text += read_some(room() - text.size());
  EXPECT_TRUE(text == numbered(0, static_cast<int>(room() / 8)));
}

TEST_F(APipeSink, GivesAllToASlowReaderBehindAStop) {
  FileSink sink(writer, "the pipe",
                {.writing = {.piece_bytes = 0, .stop = stop.get_token(), .patience = std::chrono::hours(1)}});
  std::string problem;
  std::jthread appends([&] {
    problem = problem_of([&] {
      // Records of eight bytes: the pipe is full behind one of them.
      for (int k = 0; k < 100'000; ++k) sink.append(numbered(k, 1));
      sink.close();
    });
    close(std::exchange(writer, -1));
  });
  for (int held = 0; held < 65'536; std::this_thread::yield()) ASSERT_EQ(ioctl(reader, FIONREAD, &held), 0);
  stop.request_stop();
  std::string text;
  for (std::string some = read_some(7001); !some.empty(); some = read_some(7001)) text += some;
  appends.join();
  EXPECT_EQ(problem, "");
  EXPECT_TRUE(text == numbered(0, 100'000));
}

TEST_F(APipeSink, LetsItsReaderSeeTheEndOnceItIsClosed) {
  FileSink sink(writer, "the pipe", options(1000));
  sink.append("all");
  sink.close();
  close(std::exchange(writer, -1));
  ASSERT_EQ(fcntl(reader, F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(read_some(100), "all");
  char none = 0;
  EXPECT_EQ(read(reader, &none, 1), 0);
}

TEST_F(APipeSink, EndsANamedPipeAsItIsClosed) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  for (FileKeeping const keeping : {FileKeeping::grows, FileKeeping::at_once}) {
    Descriptor const read_end(open(path("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    FileSink sink(path("fifo"), {.keeping = keeping});
    sink.append("all");
    sink.close();
    char text[9];
    EXPECT_EQ(read(read_end.number, text, sizeof text), 3);
    EXPECT_EQ(read(read_end.number, text, sizeof text), 0);
  }
}

TEST_F(APipeSink, WaitsForAReaderOfANamedPipeUntilAStop) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  stop.request_stop();
  for (FileKeeping const keeping : {FileKeeping::grows, FileKeeping::goes_on, FileKeeping::at_once}) {
    EXPECT_THAT(problem_of([&] { FileSink sink(path("fifo"), {.keeping = keeping, .writing = options(0).writing}); }),
                HasSubstr("is a pipe, and had no reader"));
  }
}

TEST_F(APipeSink, EndsItsWaitForATerminalAtAStop) {
  Descriptor const user(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (user.number < 0 || grantpt(user.number) != 0 || unlockpt(user.number) != 0) GTEST_SKIP() << "no terminals";
  Descriptor const terminal(open(ptsname(user.number), O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_GE(terminal.number, 0);
  FileSink(user.number, "the user", options(0)).append("typed\n");
  char typed[9];
  EXPECT_EQ(read(terminal.number, typed, sizeof typed), 6) << "it went to another terminal";
  FileSink sink(terminal.number, "the terminal", options(0));
  std::atomic<pid_t> thread = 0;
  std::string problem;
  std::jthread appends([&] {
    thread = gettid();
    problem = problem_of([&] { sink.append(numbered(0, 100'000)); });
  });
  while (thread == 0) std::this_thread::yield();
  support::await_asleep(thread);
  stop.request_stop();
  appends.join();
  EXPECT_THAT(problem, HasSubstr("a stop was requested while it took none"));
}

TEST_F(APipeSink, SaysThatItsReaderIsGoneAndRaisesNoSignal) {
  FileSink sink(writer, "the pipe", options(0));
  sink.append("taken");
  end_reader();
  EXPECT_EQ(problem_of([&] { sink.append("not taken"); }),
            "the pipe took less than all records (Broken pipe), and got 5 bytes in whole records: see that its reader "
            "reads all, or name another file.");
}

}  // namespace
}  // namespace penstock
