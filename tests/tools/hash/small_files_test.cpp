// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>

#include "penstock/core/pool.hpp"
#include "tools/hash/file_walk.hpp"
#include "tools/hash/hash_source.hpp"
#include "tools/hash/head_start.hpp"

namespace penstock::cli {
namespace {

constexpr std::size_t small_tile_bytes = 8 * blake3_chunk_bytes;
char const* const digest_of_5000_bytes = "ee78d92070de3df1c57c37002abf0a6b1a6589acdeef4d8ffac7cf3d9e8f2836";

/// Files that a source may group, for four tiles of 8 KiB. The test is producer, lane and sink in one. It must leave
/// with all tiles home, as many files handed out as were wanted, in their order, and no descriptor more than before.
struct SmallFilesOfASource : support::FolderOfFiles {
  static constexpr TileShape shape{.input_bytes = small_tile_bytes, .output_bytes = sizeof(Blake3Node)};
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 4));
  Pool pool{slab, shape, 4};
  std::vector<HashedFile> files;
  HashBook book{small_tile_bytes, [this](HashedFile const& file) { files.push_back(file); }};
  std::deque<WantedFile> wanted;
  std::vector<std::string> taken;
  bool input_fails = false;
  std::stop_source stop;
  HashSource source{[this] { return next_wanted(); }, pool, book, stop.get_token(), true};
  Progress progress{false};
  HashSink sink{source, book, progress, stop};
  std::size_t descriptors = 0;

  void SetUp() override {
    support::FolderOfFiles::SetUp();
    descriptors = support::open_descriptors();
  }
  void TearDown() override {
    EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home";
    EXPECT_EQ(support::open_descriptors(), descriptors) << "a folder or a file stays open";
    std::vector<std::string> handed_out;
    for (HashedFile const& one : files) handed_out.push_back(one.path);
    EXPECT_EQ(handed_out, taken);
    support::FolderOfFiles::TearDown();
  }
  std::optional<WantedFile> next_wanted() {
    if (wanted.empty() && input_fails) throw std::runtime_error("the input broke off");
    if (wanted.empty()) return std::nullopt;
    WantedFile first = std::move(wanted.front());
    wanted.pop_front();
    taken.push_back(first.path);
    return first;
  }
  void want(std::string const& path) { wanted.push_back({.path = path, .problem = {}, .expected = {}}); }
  Loan next() {
    Loan loan = pool.borrow();
    EXPECT_TRUE(source.next(*loan));
    return loan;
  }
  std::size_t grouped_in(Loan const& loan) const {
    FileGroup const* const group = source.group_of(*loan);
    return group == nullptr ? 0 : group->files.size();
  }
  void finish(Loan loan) {
    loan->filled = source.fill(*loan);
    sink.take(Completion::done(std::move(loan)));
  }
};

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

TEST_F(SmallFilesOfASource, LeaveATileOfItsOwnToWhatIsLargerOrEmptyOrUnknown) {
  want(file("small", 10));
  want(file("large", small_tile_bytes + 1));
  want(file("also small", 10));
  want(file("empty", 0));
  want(path("missing"));
  for (bool const in_group : {true, false, false, true, false}) {
    Loan loan = next();
    ASSERT_EQ(grouped_in(loan), in_group ? 1u : 0u) << "behind " << files.size() << " files";
    if (in_group) {
      finish(std::move(loan));
      continue;
    }
    auto const place = source.place_of(*loan);
    loan->filled = source.fill(*loan);
    book.add(place.file, place.tile, {}, loan->filled);
  }
  EXPECT_FALSE(source.next(*pool.borrow()));
  ASSERT_EQ(files.size(), 5u);
  EXPECT_EQ(files[1].bytes, small_tile_bytes + 1);
  EXPECT_THAT(files[4].problem, testing::HasSubstr("os error 2"));
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

TEST_F(SmallFilesOfASource, ThatCannotBeReadFailAlone) {
  for (char const* const name : {"a", "gone", "shrunk", "grown", "grown much", "d"}) want(file(name, 5000));
  Loan loan = next();
  std::filesystem::remove(path("gone"));
  std::filesystem::resize_file(path("shrunk"), 0);
  std::filesystem::resize_file(path("grown"), 6000);
  std::filesystem::resize_file(path("grown much"), small_tile_bytes + 1);
  finish(std::move(loan));
  ASSERT_EQ(files.size(), 6u);
  EXPECT_THAT(files[1].problem, testing::HasSubstr("No such file"));
  EXPECT_THAT(files[2].problem, testing::HasSubstr("it shrank while it was being hashed"));
  EXPECT_EQ(files[3].bytes, 6000u) << "there is room for it";
  EXPECT_THAT(files[4].problem, testing::HasSubstr("it grew while it was being hashed"));
  EXPECT_EQ(blake3_hex(files[5].digest.value()), digest_of_5000_bytes);
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
  HashBook refusing(small_tile_bytes, [](HashedFile const&) { throw std::runtime_error("no room for the line"); });
  bool given = false;
  HashSource other(
      [&]() -> std::optional<WantedFile> {
        if (std::exchange(given, true)) return std::nullopt;
        return WantedFile{.path = file("a", 5000), .problem = {}, .expected = {}};
      },
      pool, refusing, stop.get_token(), true);
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
