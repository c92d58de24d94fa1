// SPDX-License-Identifier: Apache-2.0
// Each framing gives the same records however an input comes, wherever its records lie.
#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <latch>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/compressed.hpp"
#include "support/folder_of_files.hpp"
#include "support/made_captures.hpp"
#include "support/records_of_text.hpp"
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "penstock/captures.hpp"
#include "penstock/core/pool.hpp"
#include "penstock/files.hpp"

namespace penstock {
namespace {

using support::MadeCapture;
using Records = std::vector<std::string>;

enum class Way { file, pipe, gzip, zstd, lz4, followed };
constexpr std::array all_ways{Way::file, Way::pipe, Way::gzip, Way::zstd, Way::lz4, Way::followed};

std::optional<Compression> compression_of(Way way) {
  if (way == Way::gzip) return Compression::gzip;
  if (way == Way::zstd) return Compression::zstd;
  if (way == Way::lz4) return Compression::lz4;
  return std::nullopt;
}

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

/// The text as `way` has it in a file. What is compressed is so in three members, whose borders lie anywhere.
std::string file_of(std::string const& text, Way way, std::mt19937& random) {
  std::optional const compression = compression_of(way);
  if (!compression) return text;
  std::size_t const first = random() % text.size(), second = first + random() % (text.size() - first);
  std::string all;
  for (auto const& [begin, end] : {std::pair(std::size_t{0}, first), {first, second}, {second, text.size()}})
    all += support::member_of(*compression, text.substr(begin, end - begin));
  return all;
}

/// Writes a text in pieces whose borders lie anywhere.
void write_pieces(int descriptor, std::string const& text) {
  for (std::size_t at = 0; at < text.size();) {
    auto const written = write(descriptor, text.data() + at, std::min<std::size_t>(1777, text.size() - at));
    if (written <= 0) break;
    at += static_cast<std::size_t>(written);
  }
  close(descriptor);
}

/// A folder, and tiles of some size with places of records. Every test must leave with all tiles home.
struct InputsWithAnyBorders : support::FolderOfFiles {
  std::mt19937 random{5};

  Records read(Input const& input, Way way, std::size_t tile_bytes) {
    bool const followed = way == Way::followed;
    std::string const name = path("input");
    std::filesystem::remove(path("old"));
    // A log that is followed has a record when that begins, and grows from then on.
    std::string const whole = file_of(input.text, way, random);
    std::string const there = whole.substr(0, followed ? input.records[0].size() + random() % 3000 : whole.size());
    std::ofstream(name, std::ios::binary) << there;
    std::filesystem::last_write_time(name, {});
    TileShape const shape{.input_bytes = tile_bytes, .more_input_bytes = {capture_places_bytes(tile_bytes) * 12}};
    std::vector<std::byte> slab(Pool::slab_bytes(shape, 4));
    Pool pool{slab, shape, 4};
    std::array<int, 2> ends{-1, -1};
    std::jthread writer;
    InputFile file{.path = name};
    std::stop_source stop;
    std::latch is_read(1);
    if (way == Way::pipe) {
      EXPECT_EQ(pipe(ends.data()), 0);
      file.descriptor = ends[0];
      writer = std::jthread([&] { write_pieces(ends[1], input.text); });
    } else if (followed) {
      // It ends where another file has its name.
      writer = std::jthread([&, at = there.size()] {
        is_read.wait();
        write_pieces(open(name.c_str(), O_WRONLY | O_APPEND), input.text.substr(std::min(at, input.text.size())));
        std::filesystem::rename(name, path("old"));
        std::ofstream(name, std::ios::binary) << input.text;
      });
    }
    bool given = false;
    FileSource source([&] { return std::exchange(given, true) ? std::nullopt : std::optional(file); }, pool,
                      {.stop = stop.get_token(),
                       .framing = input.framing,
                       .follow = followed,
                       .decompress = compression_of(way).has_value()});
    std::mutex turn;
    auto const produce = [&] {
      for (;;) {
        Loan loan = pool.borrow();
        std::unique_lock lock(turn);
        if (!source.next(*loan)) return;
        std::uint64_t const number = next_++;
        if (!is_read.try_wait()) is_read.count_down();
        lock.unlock();
        loan->filled = source.fill(*loan);
        if (source.place_of(*loan).generation != 0) {
          stop.request_stop();
          continue;
        }
        Records records = records_in(*loan);
        std::lock_guard const guard(of_records_);
        records_[number] = std::move(records);
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
    for (auto const& [number, records] : records_) all.insert(all.end(), records.begin(), records.end());
    records_.clear();
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

 private:
  std::uint64_t next_ = 0;
  std::mutex of_records_;  ///< A followed file keeps the turn until there is more of it.
  std::map<std::uint64_t, Records> records_;
};

TEST_F(InputsWithAnyBorders, HaveTheSameRecordsHoweverTheyCome) {
  for (std::size_t shift = 1; shift <= 100; ++shift) {
    std::vector<std::size_t> tiles{4096};
    if (shift % 10 == 0) tiles.insert(tiles.end(), {4097 + random() % 8000, std::size_t{64} << 10U});
    if (shift == 100) tiles.push_back(std::size_t{1} << 20U);
    for (Input const& input : inputs(shift, random)) {
      for (std::size_t const tile : tiles) {
        for (Way const way : all_ways) {
          if (auto const one = compression_of(way); one && !support::can_compress(*one)) continue;
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
