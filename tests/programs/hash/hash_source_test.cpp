// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/hash_source.hpp"

#include <cstring>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/folder_of_files.hpp"
#include "support/inline_stream.hpp"
#include <gmock/gmock.h>

#include "engine/core/pool.hpp"
#include "ingest/file/open_folder.hpp"
#include "penstock/kernels.hpp"
#include "programs/hash/hash_sink.hpp"

namespace penstock::cli {
namespace {

constexpr std::size_t tile_bytes = 2 * blake3_chunk_bytes;
char const* const digest_of_5000 = "ee78d92070de3df1c57c37002abf0a6b1a6589acdeef4d8ffac7cf3d9e8f2836";
char const* const digest_of_nothing = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";

/// Four tiles of two chunks, and files that are wanted in their turn. The test is producer, lane and sink in one. It
/// must leave with all tiles home and as many files handed out as were wanted.
struct HashSourceOnFiles : support::FolderOfFiles {
  static constexpr TileShape shape{.input_bytes = tile_bytes, .output_bytes = sizeof(Blake3Node)};
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 4));
  Pool pool{slab, shape, 4};
  std::vector<HashedFile> files;
  HashBook book{[this](HashedFile const& file) { files.push_back(file); }};
  std::deque<WantedFile> wanted;
  std::size_t taken = 0;
  std::stop_source stop;
  HashSource source{[this]() -> std::optional<WantedFile> {
                      if (taken == wanted.size()) return std::nullopt;
                      return wanted[taken++];
                    },
                    pool, book, stop.get_token()};

  void TearDown() override {
    EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home";
    EXPECT_EQ(files.size(), taken) << "a file was not handed out";
    support::FolderOfFiles::TearDown();
  }

  /// Returns what comes next; empty at the end.
  std::optional<Loan> next() {
    Loan loan = pool.borrow();
    if (!source.next(*loan)) return std::nullopt;
    return loan;
  }
  /// Fills, hashes and books a tile, as a pipeline would.
  void finish(Loan loan) {
    auto const place = source.place_of(*loan);
    try {
      loan->filled = source.fill(*loan);
    } catch (std::runtime_error const& problem) {
      book.fail(place.file, problem.what());
      return;
    }
    support::InlineStream stream;
    std::vector<std::byte> scratch(blake3_scratch_bytes(tile_bytes));
    blake3_tile(loan->filled_input(), loan->tag, loan->output(), scratch, StreamRef(stream));
    Blake3Node node;
    std::memcpy(&node, loan->output().data(), sizeof node);
    book.add(place.file, place.tile, node, loan->filled);
  }
  void finish_all() {
    while (auto loan = next()) finish(std::move(*loan));
  }
  std::string digest(std::size_t number) const {
    return files.at(number).digest ? blake3_hex(*files[number].digest) : "none: " + files[number].problem;
  }
};

TEST_F(HashSourceOnFiles, CutsAFileIntoTilesThatMayBeFilledInAnyOrder) {
  wanted.push_back({file("a", 5000), {}, {}});
  std::vector<Loan> tiles;
  while (auto loan = next()) tiles.push_back(std::move(*loan));
  ASSERT_EQ(tiles.size(), 3u);
  EXPECT_EQ(tiles[2]->tag, 4u) << "two chunks a tile";
  for (std::size_t const k : {2U, 0U, 1U}) finish(std::move(tiles[k]));
  EXPECT_EQ(digest(0), digest_of_5000);
  EXPECT_EQ(files[0].bytes, 5000u);
}

/// Seen to fail if the folder is not passed on.
TEST_F(HashSourceOnFiles, FindsAFileInItsFolderWhateverBecameOfItsPath) {
  std::string const own = file("a", 5000);
  auto const opened = std::make_shared<OpenFolder>(own.substr(0, own.rfind('/')));
  wanted.push_back({.path = "/moved/away/a", .problem = {}, .expected = {}, .folder = opened});
  finish_all();
  EXPECT_EQ(digest(0), digest_of_5000);
}

TEST_F(HashSourceOnFiles, GivesAnEmptyFileOneEmptyTile) {
  wanted.push_back({file("empty", 0), {}, {}});
  finish_all();
  EXPECT_EQ(digest(0), digest_of_nothing);
}

TEST_F(HashSourceOnFiles, ReadsAPipeInWholeTilesAndAddsNoneAtItsEnd) {
  wanted.push_back({path("pipe"), {}, {}});
  support::PipeWriter writer(path("pipe"));
  writer.write(std::string(1000, 'x'));
  writer.write(std::string(tile_bytes - 1000, 'x'));
  auto first = next();
  ASSERT_TRUE(first);
  EXPECT_EQ((*first)->filled, tile_bytes);
  writer.end();
  EXPECT_FALSE(next());
  EXPECT_TRUE(files.empty());
  finish(std::move(*first));
  EXPECT_EQ(files.at(0).bytes, tile_bytes);
}

TEST_F(HashSourceOnFiles, PassesOnWhyAFileCannotBeHashedAndGoesOn) {
  wanted.push_back({"anything", "is a socket", {}});
  wanted.push_back({path("nowhere"), {}, {}});
  wanted.push_back({file("a", 5000), {}, "what a list says"});
  finish_all();
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[0].problem, "is a socket");
  EXPECT_EQ(files[1].problem, "No such file or directory (os error 2)");
  EXPECT_EQ(digest(2), digest_of_5000);
  EXPECT_EQ(files[2].expected, "what a list says");
}

TEST_F(HashSourceOnFiles, FailsAFileThatVanishedAfterItWasFound) {
  wanted.push_back({file("a", 5000), {}, {}});
  wanted.push_back({file("b", 5000), {}, {}});
  std::filesystem::remove(path("a"));
  finish_all();
  EXPECT_EQ(digest(0), "none: No such file or directory (os error 2)");
  EXPECT_EQ(digest(1), digest_of_5000);
}

TEST_F(HashSourceOnFiles, FailsAFileThatShrinksBetweenTwoOfItsTiles) {
  wanted.push_back({file("a", 5000), {}, {}});
  wanted.push_back({file("b", 5000), {}, {}});
  finish(*next());
  std::filesystem::resize_file(path("a"), 3000);
  finish_all();
  EXPECT_THAT(digest(0), testing::HasSubstr("shrank"));
  EXPECT_EQ(digest(1), digest_of_5000);
}

TEST_F(HashSourceOnFiles, FailsAFileThatGrowsWhileItsLastTileIsOut) {
  wanted.push_back({file("a", 5000), {}, {}});
  finish(*next());
  finish(*next());
  auto last = next();
  ASSERT_TRUE(last);
  std::ofstream(path("a"), std::ios::app) << 'x';
  finish(std::move(*last));
  EXPECT_THAT(digest(0), testing::HasSubstr("grew"));
}

TEST_F(HashSourceOnFiles, FailsAFileThatVanishesWhileItIsReadSinceThatMayHideAChange) {
  wanted.push_back({file("a", 5000), {}, {}});
  wanted.push_back({file("b", 5000), {}, {}});
  finish(*next());
  std::filesystem::remove(path("a"));
  finish_all();
  EXPECT_THAT(digest(0),
              testing::HasSubstr("removed while it was being hashed, which may hide a change; hash it again"));
  EXPECT_EQ(digest(1), digest_of_5000);
}

TEST_F(HashSourceOnFiles, CancelsTheFileThatItIsStoppedIn) {
  wanted.push_back({file("a", 5000), {}, {}});
  wanted.push_back({file("b", 5000), {}, {}});
  auto first = next();
  ASSERT_TRUE(first);
  stop.request_stop();
  EXPECT_FALSE(next());
  finish(std::move(*first));
  ASSERT_EQ(files.size(), 1u) << "the other was never begun";
  EXPECT_TRUE(files[0].cancelled);
  EXPECT_FALSE(files[0].digest);
}

TEST_F(HashSourceOnFiles, CancelsThePipeThatItIsStoppedInWhileItWaits) {
  wanted.push_back({path("pipe"), {}, {}});
  support::PipeWriter const writer(path("pipe"));
  writer.write("abc");
  std::jthread producer([&] {
    auto read = next();
    ASSERT_TRUE(read) << "what was read of it comes through";
    EXPECT_FALSE(next());
    finish(std::move(*read));
  });
  writer.await_read();
  stop.request_stop();
  producer.join();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_TRUE(files[0].cancelled);
}

constexpr std::size_t sink_tile_bytes = blake3_chunk_bytes;

/// Four tiles of a chunk, a file and then a pipe. The test is producer and consumer in one, and must leave with all
/// tiles home.
struct HashSinkOfAFileAndAPipe : support::FolderOfFiles {
  static constexpr TileShape shape{.input_bytes = sink_tile_bytes, .output_bytes = sizeof(Blake3Node)};
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 4));
  Pool pool{slab, shape, 4};
  std::vector<HashedFile> files;
  HashBook book{[this](HashedFile const& file) { files.push_back(file); }};
  std::deque<std::string> wanted;
  std::stop_source enough;
  HashSource source{[this]() -> std::optional<WantedFile> {
                      if (wanted.empty()) return std::nullopt;
                      WantedFile first{std::move(wanted.front()), {}, {}};
                      wanted.pop_front();
                      return first;
                    },
                    pool, book, enough.get_token()};
  Progress progress{false};
  HashSink sink{source, book, progress, enough};

  void SetUp() override {
    support::FolderOfFiles::SetUp();
    wanted = {file("a", 1), path("pipe")};
  }
  void TearDown() override {
    EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home";
    support::FolderOfFiles::TearDown();
  }
  /// The next tile, which must be there, back as failed.
  Completion failed(ErrorKind kind) {
    Loan loan = pool.borrow();
    EXPECT_TRUE(source.next(*loan));
    return Completion::failed(std::move(loan), std::make_shared<Failure const>(Failure{"somewhere", "so it is", kind}));
  }
};

TEST_F(HashSinkOfAFileAndAPipe, GoesOnWhenATileFailsAlone) {
  sink.take(failed(ErrorKind::device_refused));
  EXPECT_FALSE(enough.stop_requested());
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].problem, "so it is");
}

TEST_F(HashSinkOfAFileAndAPipe, WakesTheSourceThatWaitsForInputWhenTheDeviceIsLost) {
  support::PipeWriter const writer(path("pipe"));
  auto const back = failed(ErrorKind::device_lost);
  writer.write("abc");
  Loan read = pool.borrow();
  std::jthread producer([&] {
    EXPECT_TRUE(source.next(*read)) << "what was read of it comes through";
    EXPECT_FALSE(source.next(*pool.borrow()));
  });
  writer.await_read();
  sink.take(back);
  producer.join();
  sink.take(Completion::cancelled(std::move(read)));
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].problem, "so it is");
  EXPECT_TRUE(files[1].cancelled);
}

}  // namespace
}  // namespace penstock::cli
