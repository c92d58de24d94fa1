// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/open_file.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <functional>
#include <span>
#include <stdexcept>
#include <thread>

#include "support/folder_of_files.hpp"
#include "support/thread_state.hpp"
#include <gmock/gmock.h>

#include "ingest/file/open_folder.hpp"

namespace penstock {
namespace {

struct OpenFileInAFolder : support::FolderOfFiles {
  std::array<std::byte, 100> room{};
  std::stop_source stop;

  /// Returns what it threw, or nothing.
  static std::string problem_of(std::function<void()> const& what) {
    try {
      what();
    } catch (std::runtime_error const& problem) {
      return problem.what();
    }
    return {};
  }
  std::string text(std::size_t bytes) const { return {reinterpret_cast<char const*>(room.data()), bytes}; }
};

TEST_F(OpenFileInAFolder, ReadsAtAnyPlace) {
  OpenFile const opened(file("a", 1000));
  EXPECT_TRUE(opened.pieces());
  EXPECT_EQ(opened.size(), 1000u);
  EXPECT_EQ(opened.read_at(900, room), 100u);
  EXPECT_EQ(room.front(), std::byte{900 % 251});
  EXPECT_EQ(opened.read_at(0, room), 100u);
  EXPECT_EQ(room.back(), std::byte{99});
  opened.expect_unchanged();
}

TEST_F(OpenFileInAFolder, SaysWhyItCannotBeOpened) {
  EXPECT_EQ(problem_of([&] { OpenFile const opened(path("nowhere")); }), "No such file or directory (os error 2)");
}

TEST_F(OpenFileInAFolder, SaysThatItShrank) {
  OpenFile const opened(file("a", 1000));
  std::filesystem::resize_file(path("a"), 950);
  EXPECT_THAT(problem_of([&] { opened.read_at(900, room); }), testing::HasSubstr("shrank"));
  EXPECT_THAT(problem_of([&] { opened.expect_unchanged(); }), testing::HasSubstr("shrank"));
}

TEST_F(OpenFileInAFolder, SaysThatItGrew) {
  OpenFile const opened(file("a", 1000));
  std::ofstream(path("a"), std::ios::app) << 'x';
  EXPECT_EQ(opened.read_at(900, room), 100u) << "what it had is still there";
  EXPECT_THAT(problem_of([&] { opened.expect_unchanged(); }), testing::HasSubstr("grew"));
}

TEST_F(OpenFileInAFolder, SaysThatItChangedWithoutAChangeOfSize) {
  OpenFile const opened(file("a", 1000));
  std::fstream(path("a")) << 'x';
  EXPECT_THAT(problem_of([&] { opened.expect_unchanged(); }), testing::HasSubstr("changed"));
}

/// Writes to the file and puts the time of the last writing back, until the time of the last change is another.
void overwrite_and_put_time_back(std::string const& path) {
  struct stat before {};
  struct stat now {};
  ASSERT_EQ(stat(path.c_str(), &before), 0);
  do {
    std::fstream(path) << 'x';
    std::array const times{before.st_atim, before.st_mtim};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times.data(), 0), 0);
    ASSERT_EQ(stat(path.c_str(), &now), 0);
  } while (now.st_ctim.tv_nsec == before.st_ctim.tv_nsec);  // The clock of files ticks a few hundred times a second.
}

TEST_F(OpenFileInAFolder, SaysThatItChangedThoughItsTimeWasPutBack) {
  OpenFile const opened(file("a", 1000));
  overwrite_and_put_time_back(path("a"));
  EXPECT_THAT(problem_of([&] { opened.expect_unchanged(); }), testing::HasSubstr("changed"));
}

TEST_F(OpenFileInAFolder, DoubtsAFileThatChangedThoughALinkOrItsRemovalHidesThat) {
  OpenFile const linked(file("a", 1000));
  overwrite_and_put_time_back(path("a"));
  std::filesystem::create_hard_link(path("a"), path("b"));
  EXPECT_THAT(problem_of([&] { linked.expect_unchanged(); }), testing::HasSubstr("may hide a change"));
  OpenFile const removed(file("c", 1000));
  overwrite_and_put_time_back(path("c"));
  std::filesystem::remove(path("c"));
  EXPECT_THAT(problem_of([&] { removed.expect_unchanged(); }), testing::HasSubstr("may hide a change"));
}

TEST_F(OpenFileInAFolder, DoubtsAFileThatWasGivenAnotherNameByALinkOnceItIsRead) {
  OpenFile const opened(file("a", 1000));
  std::filesystem::create_hard_link(path("a"), path("b"));
  EXPECT_EQ(opened.read_at(900, room), 100u);
  EXPECT_THAT(problem_of([&] { opened.expect_unchanged(); }),
              testing::HasSubstr("may hide a change; read it again, if it is still there"));
}

TEST_F(OpenFileInAFolder, ReadsAFileThatVanishedAfterItWasOpenedAndDoubtsIt) {
  OpenFile const opened(file("a", 1000));
  std::filesystem::remove(path("a"));
  EXPECT_EQ(opened.read_at(900, room), 100u);
  EXPECT_THAT(problem_of([&] { opened.expect_unchanged(); }), testing::HasSubstr("linked or removed"));
}

TEST_F(OpenFileInAFolder, IsARegularFileIfItWasFoundInAFolder) {
  file("a", 1000);
  std::filesystem::create_symlink(path("a"), path("link"));
  support::PipeWriter const writer(path("pipe"));
  OpenFolder const in(folder);
  std::size_t const before = support::open_descriptors();
  EXPECT_EQ(OpenFile(in, "a").size(), 1000u);
  EXPECT_THAT(problem_of([&] { OpenFile const opened(in, "link"); }), testing::HasSubstr("(os error 40)"));
  EXPECT_THAT(problem_of([&] { OpenFile const opened(in, "pipe"); }), testing::HasSubstr("replaced"));
  EXPECT_EQ(support::open_descriptors(), before);
}

TEST_F(OpenFileInAFolder, ReadsAPipeToItsEndThoughItComesInPieces) {
  support::PipeWriter writer(path("pipe"));
  OpenFile opened(path("pipe"));
  EXPECT_FALSE(opened.pieces());
  writer.write("abc");
  EXPECT_EQ(opened.read_some(room, stop.get_token()), 3u);
  writer.write("defg");
  writer.end();
  auto const got = opened.gather(room, std::nullopt, stop.get_token());
  EXPECT_EQ(got.bytes, 4u);
  EXPECT_TRUE(got.ended);
  EXPECT_EQ(text(4), "defg");
  EXPECT_EQ(opened.gather(room, std::nullopt, stop.get_token()).bytes, 0u);
}

TEST_F(OpenFileInAFolder, GathersWhatAPipeHasAtOnceAndNoMore) {
  support::PipeWriter const writer(path("pipe"));
  OpenFile opened(path("pipe"));
  writer.write("abc");
  auto got = opened.gather(room, std::chrono::microseconds(0), stop.get_token());
  EXPECT_EQ(got.bytes, 3u);
  EXPECT_FALSE(got.ended);
  writer.write(std::string(room.size() + 1, 'x'));
  EXPECT_EQ(opened.gather(room, std::chrono::microseconds(0), stop.get_token()).bytes, room.size());
  EXPECT_EQ(opened.gather(room, std::chrono::microseconds(0), stop.get_token()).bytes, 1u);
}

TEST_F(OpenFileInAFolder, WaitsForMoreOfAPipeForAsLongAsItIsToLinger) {
  support::PipeWriter const writer(path("pipe"));
  OpenFile opened(path("pipe"));
  writer.write("abc");
  std::size_t got = 0;
  std::jthread reader([&] { got = opened.gather(room, std::chrono::hours(24), stop.get_token()).bytes; });
  writer.await_read();
  writer.write(std::string(room.size() - 3, 'x'));
  reader.join();
  EXPECT_EQ(got, room.size());
}

TEST_F(OpenFileInAFolder, GivesWhatItHasWhenItIsStoppedWhileItWaits) {
  support::PipeWriter const writer(path("pipe"));
  OpenFile opened(path("pipe"));
  writer.write("abc");
  std::size_t got = 0;
  std::jthread reader([&] { got = opened.gather(room, std::nullopt, stop.get_token()).bytes; });
  writer.await_read();
  stop.request_stop();
  reader.join();
  EXPECT_EQ(got, 3u);
}

TEST_F(OpenFileInAFolder, GoesOnAfterASignalWhileItWaits) {
  support::PipeWriter writer(path("pipe"));
  OpenFile opened(path("pipe"));
  struct sigaction nothing {};
  struct sigaction before {};
  nothing.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGUSR1, &nothing, &before), 0);
  std::size_t got = 0;
  std::atomic<pid_t> reader_id{0};
  std::jthread reader([&] {
    reader_id = gettid();
    got = opened.gather(room, std::nullopt, stop.get_token()).bytes;
  });
  while (reader_id == 0) std::this_thread::yield();
  for (int turn = 0; turn < 10; ++turn) {
    support::await_asleep(reader_id);
    EXPECT_EQ(pthread_kill(reader.native_handle(), SIGUSR1), 0);
  }
  writer.write("abc");
  writer.await_read();
  writer.end();
  reader.join();
  EXPECT_EQ(got, 3u);
  EXPECT_EQ(sigaction(SIGUSR1, &before, nullptr), 0);
}

TEST_F(OpenFileInAFolder, IsReadPastThePageCacheByADescriptorThatItCloses) {
  std::size_t const before = support::open_descriptors();
  {
    OpenFile opened(file("a", 1000));
    auto const access = opened.direct();
    if (!access) GTEST_SKIP() << opened.direct_refusal();
    EXPECT_EQ(opened.direct()->descriptor, access->descriptor) << "one for all";
    EXPECT_EQ(fcntl(access->descriptor, F_GETFL) & O_DIRECT, O_DIRECT);
    opened.refuse_direct(EINVAL);
    EXPECT_FALSE(opened.direct());
    EXPECT_EQ(opened.direct_refusal(), "Invalid argument (os error 22)");
  }
  EXPECT_EQ(support::open_descriptors(), before);
}

}  // namespace
}  // namespace penstock
