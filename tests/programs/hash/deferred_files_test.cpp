// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/deferred_files.hpp"

#include <array>
#include <atomic>
#include <filesystem>
#include <thread>
#include <utility>

#include "support/thread_state.hpp"
#include <gmock/gmock.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "programs/hash/small_files_of_a_source.hpp"

namespace penstock::cli {
namespace {

/// Files that a source may group, some of which turn out not to be small.
struct FilesOfAGroup : SmallFilesOfASource {
  std::atomic<pid_t> asking{0};

  /// Asks for a file on another thread.
  bool asks(Loan& loan) {
    asking = gettid();
    return source.next(*loan);
  }
  /// Waits until that thread waits, or is through.
  void await_asleep() const {
    while (asking == 0) std::this_thread::yield();
    support::await_asleep(asking);
  }
};

/// Seen to fail if deferred files are opened in the book again.
TEST_F(FilesOfAGroup, LeaveTilesOfItsOwnToWhatTurnsOutToBeLarger) {
  want(file("small", 10));
  want(file("large", small_tile_bytes + 1));
  want(file("empty", 0));
  want(path("missing"));
  want(path("folder"));
  std::filesystem::create_directory(path("folder"));
  want(file("also small", 10));
  Loan group = next();
  EXPECT_EQ(grouped_in(group), 6u) << "no file was looked at";
  finish(std::move(group));
  EXPECT_EQ(files.size(), 1u) << "the others come behind the large one";
  finish_all();
  ASSERT_EQ(files.size(), 6u);
  EXPECT_EQ(files[1].bytes, small_tile_bytes + 1);
  EXPECT_TRUE(files[1].digest);
  EXPECT_EQ(blake3_hex(files[2].digest.value()), digest_of_nothing);
  EXPECT_THAT(files[3].problem, testing::HasSubstr("os error 2"));
  EXPECT_THAT(files[4].problem, testing::HasSubstr("Is a directory"));
  EXPECT_TRUE(files[5].digest);
  EXPECT_EQ(source.grouped().files, 3u);
}

/// Seen to fail if a file that says it is empty counts as empty.
TEST_F(FilesOfAGroup, LeaveATileOfItsOwnToWhatOnlySaysThatItIsEmpty) {
  want("/proc/version");
  finish(next());
  EXPECT_TRUE(files.empty());
  finish_all();
  EXPECT_GT(files.at(0).bytes, 0u);
  EXPECT_TRUE(files[0].digest);
}

/// Seen to fail if what is no regular file is opened to look at it: a writer that waits for a reader would lose it
/// again.
TEST_F(FilesOfAGroup, LeaveAPipeThatAListNamesClosedUntilItIsRead) {
  want(path("pipe"));
  support::PipeWriter writer(path("pipe"));
  int const watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  ASSERT_GE(inotify_add_watch(watch, path("pipe").c_str(), IN_OPEN), 0);
  finish(next());
  std::array<char, 4096> events;
  EXPECT_LT(read(watch, events.data(), events.size()), 0) << "it was opened";
  close(watch);
  writer.write("abc");
  std::jthread reader([this] { finish_all(); });
  writer.await_read();
  writer.end();
  reader.join();
  EXPECT_EQ(files.at(0).bytes, 3u);
}

/// Seen to fail if those that were deferred last come first.
TEST_F(FilesOfAGroup, ComeInTheOrderOfTheInputIfTheyAreDeferred) {
  for (char const* const name : {"a", "b"}) want(file(name, small_tile_bytes + 1));
  finish(next());
  finish(next());
  finish(next());
  EXPECT_EQ(files.size(), 1u);
  finish_all();
  EXPECT_EQ(files.size(), 2u);
}

/// Seen to fail if the end of the input does not wait for a group that is still being filled.
TEST_F(FilesOfAGroup, AreNotAtTheirEndWhileAGroupMayStillDeferOne) {
  want(file("large", small_tile_bytes + 1));
  Loan group = next();
  Loan behind = pool.borrow();
  bool more = false;
  std::jthread other([&] { more = asks(behind); });
  await_asleep();
  finish(std::move(group));
  other.join();
  EXPECT_TRUE(more);
  finish(std::move(behind));
  finish_all();
  EXPECT_EQ(files.size(), 1u);
}

/// Seen not to end if a stop does not end such a wait.
TEST_F(FilesOfAGroup, AreNotWaitedForOnceAStopIsRequested) {
  want(file("large", small_tile_bytes + 1));
  Loan group = next();
  Loan behind = pool.borrow();
  bool more = true;
  std::jthread other([&] { more = asks(behind); });
  await_asleep();
  stop.request_stop();
  other.join();
  EXPECT_FALSE(more);
  finish(std::move(group));
  EXPECT_TRUE(files.at(0).cancelled);
}

/// Seen to fail if what was deferred is forgotten by a stop.
TEST_F(FilesOfAGroup, AreCancelledIfTheyAreDeferredWhenTheRunIsStopped) {
  want(file("small", 10));
  want(file("large", small_tile_bytes + 1));
  Loan first = next();
  want(file("also large", small_tile_bytes + 1));
  Loan second = next();
  finish(std::move(first));
  stop.request_stop();
  EXPECT_FALSE(source.cut_short());
  EXPECT_FALSE(source.next(*pool.borrow()));
  EXPECT_TRUE(source.cut_short());
  finish(std::move(second));
  ASSERT_EQ(files.size(), 3u);
  EXPECT_FALSE(files[0].cancelled);
  EXPECT_TRUE(files[1].cancelled);
  EXPECT_TRUE(files[2].cancelled) << "it was deferred when it was too late for it";
}

}  // namespace
}  // namespace penstock::cli
