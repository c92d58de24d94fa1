// SPDX-License-Identifier: Apache-2.0
// The lines of a text are the same from a file, through a pipe, compressed, and from a log that is followed.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/compressed.hpp"
#include "support/folder_of_files.hpp"
#include "support/records_of_text.hpp"
#include "support/seeds.hpp"
#include <gmock/gmock.h>

#include "engine/core/pool.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {
namespace {

using Random = std::mt19937_64;

struct LinesAllWays : support::FolderOfFiles {
  std::size_t tile_bytes = 4096;
  RecordLoss loss;

  void write(std::string const& name, std::string const& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    std::filesystem::last_write_time(path(name), {});
  }
  std::vector<std::string> read(std::string const& name, FileSourceOptions options) {
    TileShape const shape{.input_bytes = tile_bytes};
    std::vector<std::byte> slab(Pool::slab_bytes(shape, 1));
    Pool pool{slab, shape, 1};
    options.framing = lines();
    FileSource source({path(name)}, pool, options);
    std::vector<std::string> all;
    for (;;) {
      Loan const loan = pool.borrow();
      if (!source.next(*loan)) break;
      loan->filled = source.fill(*loan);
      for (std::string const& line : support::records_of(*lines(), loan->filled_input())) all.push_back(line);
    }
    loss = source.loss();
    return all;
  }
  std::vector<std::string> read_pipe(std::string const& text, Random& random) {
    std::filesystem::remove(path("pipe"));
    support::PipeWriter writer(path("pipe"));
    std::uint64_t const seed = random();
    std::jthread writes([&] {
      Random sizes(seed);
      for (std::size_t at = 0; at < text.size();) {
        std::size_t const bytes = 1 + sizes() % (sizes() % 2 == 0 ? 50 : 100000);
        writer.write(text.substr(at, bytes));
        at += bytes;
      }
      writer.await_read();
      writer.end();
    });
    return read("pipe", {});
  }
  std::vector<std::string> read_followed(std::string const& text) {
    write("log", text);
    write("next", "the end\n");
    TileShape const shape{.input_bytes = tile_bytes};
    std::vector<std::byte> slab(Pool::slab_bytes(shape, 1));
    Pool pool{slab, shape, 1};
    FileSource source({path("log")}, pool, {.framing = lines(), .follow = true});
    std::vector<std::string> all;
    for (bool rotated = false; all.empty() || all.back() != "the end\n";) {
      Loan const loan = pool.borrow();
      if (!source.next(*loan)) break;
      // The last line of a log ends where another file has its name.
      if (!std::exchange(rotated, true)) {
        std::filesystem::rename(path("log"), path("log.1"));
        std::filesystem::rename(path("next"), path("log"));
      }
      loan->filled = source.fill(*loan);
      for (std::string const& line : support::records_of(*lines(), loan->filled_input())) all.push_back(line);
    }
    loss = source.loss();
    all.pop_back();
    return all;
  }
  void expect_same(std::string const& text, Random& random, std::string const& what) {
    std::vector<std::string> wanted = support::records_of(*lines(), support::bytes_of(text));
    std::size_t const all = wanted.size();
    std::erase_if(wanted, [&](auto const& line) { return line.size() > tile_bytes; });
    RecordLoss const left_out{.refused = all - wanted.size()};
    write("file", text);
    EXPECT_TRUE(read("file", {}) == wanted) << what << ", as a file";
    EXPECT_EQ(loss, left_out) << what << ", as a file";
    EXPECT_TRUE(read_pipe(text, random) == wanted) << what << ", through a pipe";
    EXPECT_EQ(loss, left_out) << what << ", through a pipe";
    if (support::can_compress(Compression::gzip)) {
      write("packed",
            support::gzip_member(text.substr(0, text.size() / 3)) + support::gzip_member(text.substr(text.size() / 3)));
      EXPECT_TRUE(read("packed", {.decompress = true}) == wanted) << what << ", compressed";
      EXPECT_EQ(loss, left_out) << what << ", compressed";
    }
    // A log brings nothing before its first whole line.
    if (wanted.empty() || all == 1 || wanted.size() != all) return;
    EXPECT_TRUE(read_followed(text) == wanted) << what << ", followed";
    EXPECT_EQ(loss, left_out) << what << ", followed";
  }
};

TEST_F(LinesAllWays, AreTheSameForAnyLengthsAndTiles) {
  for (std::uint64_t seed = 1; seed <= support::seeds(24); ++seed) {
    Random random(seed);
    tile_bytes = seed % 12 == 0 ? 1 << 20 : seed % 3 == 0 ? 65536 : 4096 + random() % 1000;
    // No line is too long for every third seed.
    std::size_t const longest = seed % 3 == 1 ? tile_bytes : 1 + random() % (tile_bytes + tile_bytes / 2);
    std::string text;
    while (text.size() < 6 * tile_bytes) {
      std::uint64_t const bytes =
          random() % 3 == 0 ? random() % longest : random() % std::min<std::size_t>(longest, 100);
      text += std::string(bytes, static_cast<char>('a' + random() % 26)) +
              (random() % 9 == 0 && bytes + 2 <= longest ? "\r\n" : "\n");
    }
    if (random() % 2 == 0) text.pop_back();
    expect_same(text, random, "seed " + std::to_string(seed));
  }
}

TEST_F(LinesAllWays, AreTheSameWhereverABorderLies) {
  // A line in front shifts lines of all sizes by a byte each time.
  std::uint64_t const step = std::max<std::uint64_t>(1, 4200 / support::seeds(100));
  for (std::uint64_t shift = 0; shift < 4200; shift += step) {
    Random random(shift);
    std::string text = std::string(shift % tile_bytes, 's') + "\n";
    for (std::size_t const size : {std::size_t{1}, tile_bytes - 1, std::size_t{30}, tile_bytes / 2, tile_bytes / 2,
                                   tile_bytes / 16 + 1, std::size_t{0}}) {
      text += std::string(size, 'x') + "\n";
    }
    if (shift % 2 == 0) text += std::string(tile_bytes, 'l');
    expect_same(text, random, "shift " + std::to_string(shift));
  }
}

TEST_F(LinesAllWays, HaveALastOneThatFillsATile) {
  Random random(1);
  for (std::size_t const bytes : {tile_bytes - 1, tile_bytes, tile_bytes + 1}) {
    expect_same("a\n" + std::string(bytes, 'l'), random, std::to_string(bytes));
    expect_same(std::string(bytes, 'l'), random, std::to_string(bytes));
    expect_same(std::string(bytes, 'l') + "\n", random, std::to_string(bytes));
  }
}

}  // namespace
}  // namespace penstock
