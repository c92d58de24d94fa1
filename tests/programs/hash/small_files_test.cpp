// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "support/thread_state.hpp"
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "programs/hash/head_start.hpp"
#include "programs/hash/small_files_of_a_source.hpp"

namespace penstock::cli {
namespace {

TEST_F(SmallFilesOfASource, ShareATileAndAreHashedWhereItIsFilled) {
  for (char const* const name : {"a", "b", "c"}) want(file(name, 5000));
  Loan loan = next();
  EXPECT_EQ(grouped_in(loan), 3u);
  EXPECT_TRUE(files.empty());
  finish(std::move(loan));
  ASSERT_EQ(files.size(), 3u);
  for (HashedFile const& one : files) {
    EXPECT_EQ(blake3_hex(one.digest.value()), digest_of_5000_bytes);
    EXPECT_EQ(one.bytes, 5000u);
  }
  EXPECT_EQ(source.grouped().files, 3u);
  EXPECT_EQ(source.grouped().bytes, 15000u);
}

/// Seen to fail if all groups have as many files.
TEST_F(SmallFilesOfASource, AreFewerInAGroupIfThoseBeforeWereLarge) {
  for (std::size_t i = 0; i < FileGroup::most_files; ++i) want(file(std::to_string(i), small_tile_bytes + 1));
  for (char const* const name : {"a", "b", "c", "d", "e"}) want(file(name, 1));
  finish(next());
  std::size_t in_group = 0;
  while (in_group == 0) {
    Loan loan = next();
    in_group = grouped_in(loan);
    finish(std::move(loan));
  }
  EXPECT_EQ(in_group, FileGroup::usual_bytes / FileGroup::most_file_bytes);
  finish_all();
}

TEST_F(SmallFilesOfASource, AreNoMoreInAGroupThanAreHashedInAMoment) {
  for (std::size_t i = 0; i < FileGroup::most_files + 1; ++i) want(file(std::to_string(i), 1));
  Loan first = next(), second = next();
  EXPECT_EQ(grouped_in(first), FileGroup::most_files);
  EXPECT_EQ(grouped_in(second), 1u);
  finish(std::move(second));
  EXPECT_TRUE(files.empty()) << "they come in the order of the input";
  finish(std::move(first));
}

/// Seen to fail without a bound for folders, of which each is a descriptor.
TEST_F(SmallFilesOfASource, AreOfFewFoldersInEachGroup) {
  for (std::size_t i = 0; i < FileGroup::most_folders + 1; ++i) {
    std::string const name = "folder" + std::to_string(i);
    std::filesystem::create_directory(path(name));
    wanted.push_back({.path = file(name + "/a", 7),
                      .problem = {},
                      .expected = {},
                      .folder = std::make_shared<OpenFolder const>(path(name))});
  }
  Loan first = next();
  EXPECT_EQ(grouped_in(first), FileGroup::most_folders);
  finish(std::move(first));
  EXPECT_EQ(support::open_descriptors(), descriptors + 1) << "that of the next folder";
  finish(next());
}

/// Seen to fail if a tile stands for one group only, and if it goes on though a file was deferred.
TEST_F(SmallFilesOfASource, OfSeveralGroupsMayShareATileUntilOneIsDeferred) {
  HashSource patient([this] { return next_wanted(); }, pool, book, stop.get_token(),
                     {.wanted = true, .goes_on_for = std::chrono::hours(1)});
  for (std::size_t i = 0; i < FileGroup::most_files; ++i) want(file(std::to_string(i), 10));
  for (char const* const name : {"a", "b"}) want(file(name, small_tile_bytes));
  want(file("large", small_tile_bytes + 1));
  want(path("nowhere"));
  Loan loan = pool.borrow();
  ASSERT_TRUE(patient.next(*loan));
  EXPECT_EQ(patient.fill(*loan), 0u);
  EXPECT_EQ(files.size(), FileGroup::most_files + 2);
  EXPECT_EQ(patient.group_of(*loan)->bytes, 10 * FileGroup::most_files + 2 * small_tile_bytes);
  for (int tile = 0; tile < 2; ++tile) {
    Loan of_large = pool.borrow();
    ASSERT_TRUE(patient.next(*of_large));
    EXPECT_EQ(patient.group_of(*of_large), nullptr);
    book.fail(patient.place_of(*of_large).file, "so it is");
  }
  EXPECT_EQ(files.size(), FileGroup::most_files + 4);
  EXPECT_FALSE(patient.next(*loan));
}

TEST_F(SmallFilesOfASource, ThatCannotBeReadFailAlone) {
  for (char const* const name : {"a", "gone", "d"}) want(file(name, 5000));
  Loan loan = next();
  std::filesystem::remove(path("gone"));
  finish(std::move(loan));
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(blake3_hex(files[0].digest.value()), digest_of_5000_bytes);
  EXPECT_THAT(files[1].problem, testing::HasSubstr("No such file"));
  EXPECT_EQ(blake3_hex(files[2].digest.value()), digest_of_5000_bytes);
}

TEST_F(SmallFilesOfASource, OfATileThatWasNeverFilledAreFailedOrCancelledWithIt) {
  for (std::size_t i = 0; i < FileGroup::most_files + 2; ++i) want(file(std::to_string(i), 1));
  Loan failed = next(), cancelled = next();
  sink.take(Completion::failed(
      std::move(failed), std::make_shared<Failure const>(Failure{"somewhere", "so it is", ErrorKind::device_refused})));
  sink.take(Completion::cancelled(std::move(cancelled)));
  EXPECT_EQ(files.front().problem, "so it is");
  EXPECT_TRUE(files.back().cancelled);
}

TEST_F(SmallFilesOfASource, OfATileThatFailedLaterAreHashedAllTheSame) {
  want(file("a", 5000));
  Loan loan = next();
  loan->filled = source.fill(*loan);
  sink.take(Completion::failed(
      std::move(loan), std::make_shared<Failure const>(Failure{"device", "it is lost", ErrorKind::device_lost})));
  EXPECT_TRUE(stop.stop_requested()) << "there is no device left";
  EXPECT_EQ(blake3_hex(files.at(0).digest.value()), digest_of_5000_bytes);
}

/// Seen to fail if the sink passes over such a tile: the line would be missing, and the run would be well.
TEST_F(SmallFilesOfASource, ThatABookRefusesEndInAFailureOfTheSink) {
  HashBook refusing([](HashedFile const&) { throw std::runtime_error("no room for the line"); });
  bool given = false;
  HashSource other(
      [&]() -> std::optional<WantedFile> {
        if (std::exchange(given, true)) return std::nullopt;
        return WantedFile{.path = file("a", 5000), .problem = {}, .expected = {}};
      },
      pool, refusing, stop.get_token(), {.wanted = true});
  HashSink its_sink(other, refusing, progress, stop);
  Loan loan = pool.borrow();
  ASSERT_TRUE(other.next(*loan));
  EXPECT_THROW(other.fill(*loan), std::runtime_error);
  EXPECT_THROW(its_sink.take(Completion::failed(
                   std::move(loan), std::make_shared<Failure const>(Failure{"source", "no room", ErrorKind::system}))),
               Error);
}

TEST_F(SmallFilesOfASource, AreHashedBeforeTheInputFails) {
  want(file("a", 5000));
  input_fails = true;
  finish(next());
  EXPECT_EQ(files.size(), 1u);
  EXPECT_THROW(source.next(*pool.borrow()), std::runtime_error);
}

TEST_F(SmallFilesOfASource, AreTakenNoMoreOnceAStopIsRequested) {
  want(file("a", 5000));
  stop.request_stop();
  EXPECT_FALSE(source.next(*pool.borrow()));
  EXPECT_EQ(wanted.size(), 1u);
}

/// Seen to fail if the source opens the pipe at once: the file then waits for the pipe's writer.
TEST_F(SmallFilesOfASource, ThatNeedTilesOfTheirOwnComeBeforeAPipe) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  want(file("large", 2 * small_tile_bytes));
  wanted.push_back({.path = path("pipe"), .problem = {}, .expected = {}, .kind = S_IFIFO});
  Loan group = next();
  EXPECT_EQ(grouped_in(group), 1u);
  // It opens the pipe once it is read.
  std::jthread const writer([&] { std::ofstream(path("pipe")) << "x"; });
  std::promise<pid_t> waits;
  std::optional<Loan> after_it;
  {
    std::jthread const producer([&] {
      waits.set_value(gettid());
      after_it = next();
    });
    support::await_asleep(waits.get_future().get());
    finish(std::move(group));
  }
  EXPECT_EQ(source.place_of(**after_it).file, 0u) << "the large file's number";
  finish(std::move(*std::exchange(after_it, std::nullopt)));
  finish_all();
}

/// The last file is of a lease that comes once the others are done. Seen to fail where it was waited for while one of
/// them was yet to be deferred.
TEST_F(SmallFilesOfASource, DoNotWaitForAFileThatComesOnlyAfterThem) {
  want(file("large", 2 * small_tile_bytes));
  want(file("small", 5));
  want(file("later", 5));
  std::atomic<bool> are_done = false;
  ready = [&] { return wanted.size() > 1 || are_done; };
  Loan group = next();
  EXPECT_EQ(grouped_in(group), 2u);
  std::promise<pid_t> waits;
  std::optional<Loan> after_it;
  {
    std::jthread const producer([&] {
      waits.set_value(gettid());
      after_it = next();
    });
    support::await_asleep(waits.get_future().get());
    finish(std::move(group));
  }
  EXPECT_EQ(source.place_of(**after_it).file, 0u) << "the large file's number";
  finish(std::move(*std::exchange(after_it, std::nullopt)));
  are_done = true;
  finish_all();
}

TEST_F(SmallFilesOfASource, OfWhichOneIsNoInputAreHashedWithoutIt) {
  want(file("a", 5));
  wanted.push_back({.path = path("page"), .problem = {}, .expected = {}, .left_out = true});
  want(file("b", 5));
  Loan group = next();
  EXPECT_EQ(grouped_in(group), 2u);
  finish(std::move(group));
  // It may also be the first that is asked for on behalf of a tile.
  wanted.push_back({.path = path("page"), .problem = {}, .expected = {}, .left_out = true});
  finish_all();
}

TEST_F(SmallFilesOfASource, AreHashedInAHeadStartToo) {
  for (char const* const name : {"a", "b"}) want(file(name, 5000));
  want(file("large", 2 * small_tile_bytes));
  HeadStart const head = take_head_start(source, pool, book, progress, stop.get_token());
  EXPECT_TRUE(head.input_ended);
  EXPECT_EQ(head.tiles, 2u) << "those of the large one";
  EXPECT_EQ(head.bytes, 2 * small_tile_bytes);
  EXPECT_EQ(source.grouped().bytes, 10000u);
}

}  // namespace
}  // namespace penstock::cli
