// SPDX-License-Identifier: Apache-2.0
#include "tools/hash/hash_sink.hpp"

#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/folder_of_files.hpp"

#include "penstock/core/pool.hpp"

namespace penstock::cli {
namespace {

constexpr std::size_t sink_tile_bytes = blake3_chunk_bytes;

/// Four tiles of a chunk, a file and then a pipe. The test is producer and consumer in one, and must leave with all
/// tiles home.
struct HashSinkOfAFileAndAPipe : support::FolderOfFiles {
  static constexpr TileShape shape{.input_bytes = sink_tile_bytes, .output_bytes = sizeof(Blake3Node)};
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 4));
  Pool pool{slab, shape, 4};
  std::vector<HashedFile> files;
  HashBook book{sink_tile_bytes, [this](HashedFile const& file) { files.push_back(file); }};
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
  std::jthread producer([&] { EXPECT_FALSE(source.next(*pool.borrow())); });
  writer.await_read();
  sink.take(back);
  producer.join();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].problem, "so it is");
  EXPECT_TRUE(files[1].cancelled);
}

}  // namespace
}  // namespace penstock::cli
