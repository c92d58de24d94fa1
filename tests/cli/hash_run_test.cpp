// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/hash_run.hpp"

#include <deque>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "cli/folder_of_files.hpp"

#include "penstock/core/pool.hpp"

namespace penstock::cli {
namespace {

constexpr std::size_t tile_bytes = blake3_chunk_bytes;

/// Four tiles of a chunk, and files that are wanted in their turn. Whoever is told of a file throws, if told to. The
/// test is producer, lane and consumer in one, and must leave with all tiles home.
struct HashRunOnFiles : FolderOfFiles {
  static constexpr TileShape shape{.input_bytes = tile_bytes, .output_bytes = sizeof(Blake3Node)};
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 4));
  Pool pool{slab, shape, 4};
  std::string broken;  ///< What is thrown; empty for nothing.
  HashBook book{tile_bytes, [this](HashedFile const&) {
                  if (!broken.empty()) throw std::runtime_error(broken);
                }};
  std::deque<std::string> wanted;
  std::stop_source enough;
  HashSource source{[this]() -> std::optional<WantedFile> {
                      if (wanted.empty()) return std::nullopt;
                      WantedFile first{std::move(wanted.front()), {}, {}};
                      wanted.pop_front();
                      return first;
                    },
                    tile_bytes, pool.size(), book, enough.get_token()};
  Progress progress{false};
  HashRun run{source, book, progress, enough};

  void TearDown() override {
    EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home";
    FolderOfFiles::TearDown();
  }
  /// The next tile, which must be there, back as failed.
  Completion failed(ErrorKind kind) {
    Loan loan = pool.borrow();
    EXPECT_TRUE(run.next(*loan));
    return Completion::failed(std::move(loan), std::make_shared<Failure const>(Failure{"somewhere", "a tile's", kind}));
  }
};

TEST_F(HashRunOnFiles, HasNoProblemWhenATileHasOne) {
  wanted = {file("a", 3 * tile_bytes)};
  run.take(failed(ErrorKind::device_refused));
  EXPECT_EQ(run.problem(), std::nullopt);
  EXPECT_FALSE(enough.stop_requested()) << "the device serves on";
}

TEST_F(HashRunOnFiles, KeepsWhyTheInputEndedThoughATileFailedBefore) {
  wanted = {file("a", 1), path("nowhere")};
  run.take(failed(ErrorKind::device_refused));
  broken = "the input's";
  EXPECT_THROW(run.next(*pool.borrow()), std::runtime_error);
  EXPECT_EQ(run.problem(), "the input's");
}

TEST_F(HashRunOnFiles, KeepsWhatFailedFirstWhenTilesComeBack) {
  wanted = {file("a", 1), file("b", 1)};
  for (auto const* name : {"the first's", "the second's"}) {
    broken = name;
    EXPECT_THROW(run.take(failed(ErrorKind::device_refused)), std::runtime_error);
  }
  EXPECT_EQ(run.problem(), "the first's");
}

TEST_F(HashRunOnFiles, EndsASourceThatWaitsForInputWhenTheDeviceIsLost) {
  wanted = {file("a", 1), path("pipe")};
  PipeWriter const writer(path("pipe"));
  auto back = failed(ErrorKind::device_lost);
  writer.write("abc");
  std::jthread producer([&] { EXPECT_FALSE(run.next(*pool.borrow())); });
  writer.await_read();
  run.take(back);
  producer.join();
}

}  // namespace
}  // namespace penstock::cli
