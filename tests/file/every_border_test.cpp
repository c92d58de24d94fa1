// SPDX-License-Identifier: Apache-2.0
// Each framing gives the same records however an input comes, wherever its records lie.
#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/compressed.hpp"
#include "support/folder_of_files.hpp"
#include "support/made_captures.hpp"
#include "support/records_of_text.hpp"
#include <gtest/gtest.h>
#include <unistd.h>

#include "penstock/captures.hpp"
#include "penstock/core/pool.hpp"
#include "penstock/files.hpp"

namespace penstock {
namespace {

using support::MadeCapture;
using Records = std::vector<std::string>;

enum class Way { file, pipe, compressed };

/// An input, how it is framed, and its records.
struct Input {
  FramingRef framing;
  std::string text = {};
  Records records = {};
  void add(std::string const& record) {
    text += record;
    records.push_back(record);
  }
};

std::string some_length(std::mt19937& random) {
  std::size_t const most = random() % 40 == 0 ? 3000 : 90;
  return std::string(1 + random() % most, static_cast<char>('a' + random() % 26));
}

Input some_capture(MadeCapture::Format format, std::size_t shift, std::mt19937& random) {
  Input input{captured_packets()};
  MadeCapture capture(format, random() % 2 == 0, random() % 2 == 0);
  if (format == MadeCapture::Format::pcapng) input.records = {capture.text.substr(0, 28), capture.text.substr(28)};
  input.records.push_back(capture.add({std::string(shift, 's')}));
  for (int k = 0; k < 100; ++k) input.records.push_back(capture.add({some_length(random), random()}));
  input.text = capture.text;
  return input;
}

/// Inputs of every framing; `shift` moves all borders by a byte.
std::vector<Input> inputs(std::size_t shift, std::mt19937& random) {
  std::vector<Input> all{
      {lines()}, {delimited_by("<>")}, {length_prefixed()}, {length_prefixed({.bytes = 2, .before = 1})}};
  for (int k = 0; k < 100; ++k) {
    std::string const body = k == 0 ? std::string(shift, 's') : some_length(random);
    auto const low = static_cast<char>(body.size()), high = static_cast<char>(body.size() >> 8U);
    all[0].add(body + "\n");
    all[1].add(body + "<>");
    all[2].add(std::string(2, '\0') + high + low + body);
    all[3].add(std::string("x") + high + low + body);
  }
  std::size_t const one = 1 + shift % 97;
  all.push_back({equal_records(one)});
  for (std::size_t k = 0; k < 9000 / one; ++k) all.back().add(std::string(one, static_cast<char>('a' + k % 26)));
  all.push_back(some_capture(MadeCapture::Format::pcap, shift, random));
  all.push_back(some_capture(MadeCapture::Format::pcapng, shift, random));
  return all;
}

/// A folder, and tiles of some size with places of records. Every test must leave with all tiles home.
struct InputsWithAnyBorders : support::FolderOfFiles {
  Records read(Input const& input, Way way, std::size_t tile_bytes) {
    std::string const name = path("input");
    std::ofstream(name, std::ios::binary) << (way == Way::compressed ? support::gzip_member(input.text) : input.text);
    std::filesystem::last_write_time(name, {});
    TileShape const shape{.input_bytes = tile_bytes, .more_input_bytes = {capture_places_bytes(tile_bytes) * 12}};
    std::vector<std::byte> slab(Pool::slab_bytes(shape, 4));
    Pool pool{slab, shape, 4};
    std::array<int, 2> ends{-1, -1};
    std::jthread writer;
    InputFile file{.path = name};
    if (way == Way::pipe) {
      EXPECT_EQ(pipe(ends.data()), 0);
      file.descriptor = ends[0];
      writer = std::jthread([&] {
        for (std::size_t at = 0; at < input.text.size();)
          at += static_cast<std::size_t>(
              write(ends[1], input.text.data() + at, std::min<std::size_t>(1777, input.text.size() - at)));
        close(ends[1]);
      });
    }
    bool given = false;
    FileSource source([&] { return std::exchange(given, true) ? std::nullopt : std::optional(file); }, pool,
                      {.framing = input.framing, .decompress = way == Way::compressed});
    std::mutex mutex;
    std::map<std::uint64_t, Records> got;
    std::uint64_t next = 0;
    auto const produce = [&] {
      for (;;) {
        Loan loan = pool.borrow();
        std::unique_lock lock(mutex);
        if (!source.next(*loan)) return;
        std::uint64_t const number = next++;
        lock.unlock();
        loan->filled = source.fill(*loan);
        Records records = records_in(*loan);
        lock.lock();
        got[number] = std::move(records);
      }
    };
    {
      std::vector<std::jthread> producers;
      for (int k = 0; k < 3; ++k) producers.emplace_back(produce);
    }
    if (ends[0] >= 0) close(ends[0]);
    EXPECT_TRUE(source.loss().none());
    EXPECT_EQ(pool.on_loan(), 0U);
    Records all;
    for (auto const& [number, records] : got) all.insert(all.end(), records.begin(), records.end());
    return all;
  }
  /// As the places say.
  static Records records_in(Tile const& tile) {
    std::vector<std::uint32_t> words(tile.more_filled[0] / sizeof(std::uint32_t));
    if (words.empty()) return {};
    std::memcpy(words.data(), tile.input(1).data(), tile.more_filled[0]);
    std::string const text = support::text_of(tile.filled_input());
    Records records;
    std::size_t const first = sizeof(RecordPlaces) / sizeof(std::uint32_t);
    for (std::size_t k = 0; k < words[0]; ++k) {
      std::size_t const end = k + 1 < words[0] ? words.at(first + k + 1) : text.size();
      records.push_back(text.substr(words.at(first + k), end - words.at(first + k)));
    }
    return records;
  }
};

TEST_F(InputsWithAnyBorders, HaveTheSameRecordsAsFilePipeAndCompressed) {
  std::mt19937 random(5);
  for (std::size_t shift = 1; shift <= 100; ++shift) {
    std::vector<std::size_t> tiles{4096};
    if (shift % 10 == 0) tiles.insert(tiles.end(), {4097 + random() % 8000, std::size_t{64} << 10U});
    if (shift == 100) tiles.push_back(std::size_t{1} << 20U);
    for (Input const& input : inputs(shift, random)) {
      for (std::size_t const tile : tiles) {
        for (Way const way : {Way::file, Way::pipe, Way::compressed}) {
          if (way == Way::compressed && !support::can_compress(Compression::gzip)) continue;
          ASSERT_TRUE(read(input, way, tile) == input.records)
              << "shift " << shift << ", way " << static_cast<int>(way) << ", tiles of " << tile << ", framing "
              << input.text.substr(0, 30);
        }
      }
    }
  }
}

}  // namespace
}  // namespace penstock
