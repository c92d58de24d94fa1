// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/compressed.hpp"
#include "support/folder_of_files.hpp"
#include "support/gate.hpp"
#include "support/records_of_text.hpp"
#include <gmock/gmock.h>

#include "engine/core/pool.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {
namespace {

using support::some_lines;
using testing::HasSubstr;

/// Compressed files for eight tiles of a page. Every test must leave with all tiles home and no descriptor more than
/// there were.
struct CompressedFiles : support::FolderOfFiles {
  static constexpr std::size_t tile_bytes = 4096;
  static constexpr TileShape shape{.input_bytes = tile_bytes};
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 8));
  Pool pool{slab, shape, 8};
  std::stop_source stop;
  std::vector<std::string> paths;
  std::unique_ptr<FileSource> source;
  std::size_t descriptors = 0;

  /// Text that was read of a file, and what was then wrong with it.
  struct Read {
    std::string text, problem;
    std::size_t tiles = 0;
  };
  std::map<std::uint64_t, Read> files;

  void SetUp() override {
    FolderOfFiles::SetUp();
    descriptors = support::open_descriptors();
  }
  void TearDown() override {
    source = nullptr;
    EXPECT_EQ(support::open_descriptors(), descriptors) << "a file stayed open";
    EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home";
    FolderOfFiles::TearDown();
  }
  void write(std::string const& bytes) {
    paths.push_back(path(std::to_string(paths.size())));
    std::ofstream(paths.back(), std::ios::binary) << bytes;
    std::filesystem::last_write_time(paths.back(), {});
  }
  void open(FileSourceOptions options = {}) {
    options.stop = stop.get_token();
    options.decompress = true;
    source = std::make_unique<FileSource>(paths, pool, options);
  }
  /// Reads all there is by `threads` threads, as producers do.
  void read(unsigned threads = 1, FileSourceOptions const& options = {}) {
    if (source == nullptr) open(options);
    struct Tile {
      FileSource::Place place;
      std::string text, problem;
    };
    std::map<std::uint64_t, Tile> tiles;
    std::mutex next, note;
    std::uint64_t sequence = 0;
    std::vector<std::jthread> all;
    for (unsigned k = 0; k < threads; ++k) {
      all.emplace_back([&] {
        for (;;) {
          Loan loan = pool.borrow();
          {
            std::scoped_lock const lock(next);
            loan->sequence = sequence++;
            if (!source->next(*loan)) return;
          }
          Tile tile;
          try {
            loan->filled = source->fill(*loan);
            tile.text = support::text_of(loan->filled_input());
          } catch (FileProblem const& problem) {
            tile.problem = problem.what();
          }
          tile.place = source->place_of(*loan);
          std::scoped_lock const lock(note);
          tiles[loan->sequence] = tile;
        }
      });
    }
    all.clear();
    for (auto const& [at, tile] : tiles) {
      Read& file = files[tile.place.file];
      EXPECT_EQ(tile.place.offset, file.text.size()) << "of file " << tile.place.file;
      EXPECT_TRUE(file.problem.empty()) << "it went on behind its problem";
      file.text += tile.text;
      file.problem = tile.problem;
      ++file.tiles;
    }
  }
};

struct CompressedFilesOf : CompressedFiles, testing::WithParamInterface<Compression> {
  void SetUp() override {
    CompressedFiles::SetUp();
    if (!support::can_compress(GetParam())) GTEST_SKIP() << "no library for " << name_of(GetParam());
  }
  std::string member(std::string const& text) const { return support::member_of(GetParam(), text); }
};
INSTANTIATE_TEST_SUITE_P(Format, CompressedFilesOf,
                         testing::Values(Compression::gzip, Compression::zstd, Compression::lz4),
                         [](auto const& format) { return std::string(name_of(format.param)); });

TEST_P(CompressedFilesOf, AreReadAsWhatTheyDecodeTo) {
  std::string const one = some_lines(3 * tile_bytes + 100), two = some_lines(50000, 9);
  write(member(one) + member("") + member(two));
  write("plain\n");
  write(member(""));
  write(member(two));
  read();
  EXPECT_EQ(files[0].text, one + two);
  EXPECT_EQ(files[1].text, "plain\n");
  EXPECT_EQ(files[2].text, "");
  EXPECT_EQ(files[2].tiles, 1u);
  EXPECT_EQ(files[3].text, two);
}

TEST_P(CompressedFilesOf, AreReadBySeveralThreadsAsByOne) {
  std::vector<std::string> texts(5);
  for (std::size_t file = 0; file < texts.size(); ++file) {
    std::string bytes;
    for (std::size_t k = 0; k < 8 + file; ++k) {
      std::string const text = some_lines(40000 + 1000 * k, k + file);
      texts[file] += text;
      bytes += member(text);
    }
    write(bytes);
  }
  read(4);
  for (std::size_t file = 0; file < texts.size(); ++file) EXPECT_TRUE(files[file].text == texts[file]) << file;
}

TEST_P(CompressedFilesOf, AreCutIntoWholeRecords) {
  std::string const text = some_lines(100000) + "\nthe last";
  write(member(text.substr(0, 33333)) + member(text.substr(33333)));
  open({.framing = lines()});
  read(3);
  EXPECT_TRUE(files[0].text == text);
  EXPECT_TRUE(source->loss().none());
}

TEST_P(CompressedFilesOf, FailInTheirPlaceWhereTheyAreCutShort) {
  std::string const text = some_lines(30000), first = member(text), all = first + member(text);
  for (std::size_t const cut : {std::size_t{5}, std::size_t{60}, first.size() - 1, first.size() + 5, all.size() - 1}) {
    write(all.substr(0, cut));
    write("behind");
  }
  read(2);
  for (std::size_t k = 0; k < paths.size(); k += 2) {
    EXPECT_THAT(files[k].problem,
                testing::AllOf(testing::StartsWith(paths[k] + ": it ends at byte "), HasSubstr("cut short")));
    EXPECT_TRUE((text + text).starts_with(files[k].text));
    EXPECT_EQ(files[k + 1].text, "behind");
  }
}

TEST_P(CompressedFilesOf, FailWhereOtherBytesFollowOrTheyAreDamaged) {
  std::string const text = some_lines(30000);
  write(member(text) + "other");
  std::string damaged = member(text) + member(text);
  // Frames of zstd have no checksum here.
  damaged[member(text).size() + (GetParam() == Compression::zstd ? 8 : 1000)] ^= 0x55;
  write(damaged);
  read(2);
  EXPECT_EQ(files[0].text, text);
  EXPECT_THAT(files[0].problem, HasSubstr("other bytes follow"));
  EXPECT_TRUE(files[1].text.starts_with(text)) << "what is before the damage was read";
  EXPECT_THAT(files[1].problem, HasSubstr("data"));
}

TEST_P(CompressedFilesOf, MayComeThroughAPipe) {
  std::string const text = some_lines(20000);
  write("before");
  paths.push_back(path("pipe"));
  paths.push_back(path("plain pipe"));
  support::PipeWriter writer(path("pipe")), plain(path("plain pipe"));
  writer.write(member(text) + member(text));
  plain.write("plain");
  open();
  std::thread reader([&] { read(2); });
  writer.await_read();
  writer.end();
  plain.await_read();
  plain.end();
  reader.join();
  EXPECT_EQ(files[0].text, "before");
  EXPECT_EQ(files[1].text, text + text);
  EXPECT_EQ(files[2].text, "plain");
}

TEST_P(CompressedFilesOf, TellTheirObserver) {
  struct Book : FileObserver {
    std::map<std::uint64_t, std::string> of;
    void opened(std::uint64_t file, InputFile const&) override { of[file] += "opened "; }
    void failed(std::uint64_t file, FileProblem const&) override { of[file] += "failed "; }
    void ended(std::uint64_t file, std::uint64_t tiles) override { of[file] += "ended " + std::to_string(tiles); }
    void abandoned(std::uint64_t file, std::uint64_t) override { of[file] += "abandoned"; }
  } book;
  write(member(some_lines(2 * tile_bytes + 1)));
  write(member("text").substr(0, 9));
  read(2, {.observer = &book});
  EXPECT_EQ(book.of[0], "opened ended 3");
  EXPECT_EQ(book.of[1], "opened failed ended 1");
}

TEST_F(CompressedFiles, EndTheInputWhereTheirObserverThrows) {
  struct Thrower : FileObserver {
    void opened(std::uint64_t, InputFile const&) override {}
    void failed(std::uint64_t, FileProblem const&) override { throw std::runtime_error("no place to note a problem"); }
    void ended(std::uint64_t, std::uint64_t) override { throw std::runtime_error("no place to note an end"); }
    void abandoned(std::uint64_t, std::uint64_t) override {}
  } thrower;
  for (std::string const& bytes : {support::gzip_member("text"), support::gzip_member("text").substr(0, 9)}) {
    paths.clear();
    write(bytes);
    open({.observer = &thrower});
    Loan tile = pool.borrow();
    ASSERT_TRUE(source->next(*tile));
    EXPECT_NO_THROW(source->fill(*tile));
    EXPECT_THROW(source->next(*tile), std::runtime_error);
    EXPECT_FALSE(source->next(*tile)) << "the file has ended";
  }
}

TEST_F(CompressedFiles, CountARecordThatAStopLeavesUnfinished) {
  write(support::gzip_member(some_lines(3 * tile_bytes)));
  open({.framing = lines()});
  Loan tile = pool.borrow();
  ASSERT_TRUE(source->next(*tile));
  source->fill(*tile);
  stop.request_stop();
  EXPECT_FALSE(source->next(*tile));
  EXPECT_EQ(source->loss().unfinished, 1u);
}

TEST_F(CompressedFiles, EndAtOnceWhenAStopIsRequested) {
  write(support::gzip_member(some_lines(50000)));
  open();
  Loan first = pool.borrow(), second = pool.borrow();
  ASSERT_TRUE(source->next(*first));
  support::Gate waits;
  std::jthread const other([&] {
    waits.open();
    // Another tile has the only file.
    EXPECT_FALSE(source->next(*second));
  });
  waits.pass();
  stop.request_stop();
}

TEST_F(CompressedFiles, ThatSayTooLittleAreRefused) {
  std::string lies = support::bgzf_member(some_lines(3000));
  lies[lies.size() - 3] = 1;  // 440 bytes, of some 3000.
  write(lies);
  read();
  EXPECT_THAT(files[0].problem, HasSubstr("decode to more than they say"));
}

TEST_F(CompressedFiles, SayHowTheyWereDecoded) {
  write(support::bgzf_member("text"));
  write(support::gzip_member("text"));
  read();
  EXPECT_EQ(support::open_descriptors(), descriptors) << "the last file stays open";
  EXPECT_THAT(source->remarks(),
              testing::ElementsAre(testing::StartsWith("Files that were decoded: 2; 1 of them by one")));
}

TEST_F(CompressedFiles, AreReadAsTheyAreUnlessAskedFor) {
  std::string const bytes = support::gzip_member("text");
  write(bytes);
  source = std::make_unique<FileSource>(paths, pool);
  read();
  EXPECT_EQ(files[0].text, bytes);
}

}  // namespace
}  // namespace penstock
