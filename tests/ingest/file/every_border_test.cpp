// SPDX-License-Identifier: Apache-2.0
// Each framing gives the same records however an input comes, wherever its records lie.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <latch>
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
#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/core/pool.hpp"
#include "penstock/ingest/files.hpp"
#include "penstock/ingest/framing.hpp"

namespace penstock {
namespace {

using support::MadeCapture;
using Records = std::vector<std::string>;

enum class Way { file, pipe, gzip, zstd, lz4, followed, rotated };
constexpr std::array ways{Way::file, Way::pipe, Way::gzip, Way::zstd, Way::lz4, Way::followed, Way::rotated};

bool follows(Way way) {
  return way == Way::followed || way == Way::rotated;
}

std::optional<Compression> compression_of_way(Way way) {
  if (way == Way::gzip) return Compression::gzip;
  if (way == Way::zstd) return Compression::zstd;
  if (way == Way::lz4) return Compression::lz4;
  return std::nullopt;
}

/// An input, how it is framed, and its records.
struct Input {
  std::string name;
  FileSourceOptions options = {};
  std::string text = {};
  Records records = {};
  /// The record is in the tile as `given`, if that is not empty.
  void add(std::string const& record, std::string const& given = {}) {
    text += record;
    records.push_back(given.empty() ? record : given);
  }
};

std::string some_text(std::mt19937& random) {
  std::size_t const most = random() % 40 == 0 ? 3000 : 90;
  return std::string(1 + random() % most, static_cast<char>('a' + random() % 26));
}

/// Packets' bytes look like anything.
Input some_capture(MadeCapture::Format format, std::size_t bytes, std::mt19937& random) {
  Input input{format == MadeCapture::Format::pcap ? "pcap" : "pcapng", {.framing = captured_packets()}};
  MadeCapture capture(format, random() % 2 == 0, random() % 2 == 0);
  if (format == MadeCapture::Format::pcapng) input.records = {capture.text.substr(0, 28), capture.text.substr(28)};
  while (capture.text.size() < bytes) {
    bool const letters = random() % 2 == 0;
    input.records.push_back(capture.add({letters ? some_text(random) : support::some_bytes(random, 300), random()}));
  }
  input.text = capture.text;
  return input;
}

/// An input of each framing, of so many bytes at least.
std::vector<Input> inputs(std::size_t bytes, std::mt19937& random) {
  std::vector<Input> all{
      {"lines", {.framing = lines()}},
      {"lines of text", {.framing = lines(), .text = true}, "\xEF\xBB\xBF"},
      {"lines by CR", {.framing = lines(), .text = true}},
      {"delimiter", {.framing = delimited_by("<>")}},
      {"length of 4", {.framing = length_prefixed()}},
      {"length of 2", {.framing = length_prefixed({.bytes = 2, .before = 1})}},
      {"length of 8", {.framing = length_prefixed({.bytes = 8, .order = ByteOrder::little, .before = 3, .more = 0})}}};
  while (all[0].text.size() < bytes) {
    std::string const body = some_text(random);
    auto const low = static_cast<char>(body.size()), high = static_cast<char>(body.size() >> 8U);
    all[0].add(body + "\n");
    all[1].add(body + (random() % 2 == 0 ? "\r\n" : "\n"));
    all[2].add(body + "\r", body + "\n");
    all[3].add(body + "<>");
    all[4].add(std::string(2, '\0') + high + low + body);
    all[5].add(std::string("x") + high + low + body);
    all[6].add("abc" + support::little(body.size() + 11, 8) + body);
  }
  for (std::size_t const overlap : {0U, 3U}) {
    std::size_t const one = 1 + random() % 97;
    all.push_back(
        {overlap == 0 ? "equal" : "equal, overlapping", {.framing = equal_records(one), .overlap = one * overlap}});
    for (std::size_t k = 0; k < bytes / one + 1; ++k) all.back().add(std::string(one, static_cast<char>('a' + k % 26)));
  }
  all.push_back(some_capture(MadeCapture::Format::pcap, bytes, random));
  all.push_back(some_capture(MadeCapture::Format::pcapng, bytes, random));
  return all;
}

/// Returns the bytes of the input's file: plain, in one frame, or in several, which are decoded at once.
std::string as_file(Input const& input, Way way, std::mt19937& random) {
  auto const compression = compression_of_way(way);
  if (!compression) return input.text;
  std::size_t const most = random() % 2 == 0 ? input.text.size() : 1 + random() % 20000;
  std::string all;
  for (std::size_t at = 0; at < input.text.size(); at += std::min<std::size_t>(most, 60000))
    all += support::member_of(*compression, input.text.substr(at, std::min<std::size_t>(most, 60000)));
  return all;
}

/// A folder, and tiles of some size with places of records. Every test must leave with all tiles home.
struct InputsWithAnyBorders : support::FolderOfFiles {
  /// Reads an input. A file that is followed has a part of it; the rest is written meanwhile. It has no end: reading
  /// stops once all of its records have come, or the log was rotated.
  Records read(Input const& input, std::string const& bytes, Way way, std::size_t tile_bytes, std::size_t part) {
    std::string const name = path("input");
    std::size_t const there = follows(way) ? part % bytes.size() : bytes.size();
    std::ofstream(name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(there));
    std::filesystem::last_write_time(name, {});
    TileShape const shape{.input_bytes = tile_bytes, .more_input_bytes = {capture_places_bytes(tile_bytes) * 12}};
    std::vector<std::byte> slab(Pool::slab_bytes(shape, 4));
    Pool pool{slab, shape, 4};
    std::array<int, 2> ends{-1, -1};
    std::latch is_open(1);
    std::jthread writer;
    InputFile file{.path = name};
    if (way == Way::pipe) {
      EXPECT_EQ(pipe(ends.data()), 0);
      file.descriptor = ends[0];
      writer = std::jthread([&] {
        for (std::size_t at = 0; at < bytes.size();)
          at +=
              static_cast<std::size_t>(write(ends[1], bytes.data() + at, std::min(1 + part % 3000, bytes.size() - at)));
        close(ends[1]);
      });
    }
    if (follows(way)) {
      std::filesystem::remove(path("old"));
      writer = std::jthread([&] {
        std::ofstream to(name, std::ios::app | std::ios::binary);
        for (std::size_t at = there; at < bytes.size(); at += part)
          to.write(bytes.data() + at, static_cast<std::streamsize>(std::min(part, bytes.size() - at))).flush();
        if (way != Way::rotated) return;
        is_open.wait();
        std::filesystem::rename(name, path("old"));
        std::ofstream(name, std::ios::binary) << input.text;
      });
    }
    std::stop_source stop;
    FileSourceOptions options = input.options;
    options.stop = stop.get_token();
    options.follow = follows(way);
    options.decompress = compression_of_way(way).has_value();
    bool given = false;
    FileSource source([&] { return std::exchange(given, true) ? std::nullopt : std::optional(file); }, pool, options);
    // The mutex must not guard this: a producer that waits for more has it.
    std::atomic<std::size_t> left{support::joined(input.records).size()};
    std::mutex mutex;
    std::vector<std::pair<std::uint64_t, Records>> got;
    std::uint64_t next = 0;
    auto const produce = [&](std::vector<std::pair<std::uint64_t, Records>>& mine) {
      for (;;) {
        Loan loan = pool.borrow();
        std::unique_lock lock(mutex);
        if (!source.next(*loan)) return;
        std::uint64_t const number = next++;
        if (number == 0) is_open.count_down();
        lock.unlock();
        loan->filled = source.fill(*loan);
        if (source.place_of(*loan).generation != 0) {
          stop.request_stop();
          continue;
        }
        mine.emplace_back(number, records_in(*loan));
        if (way == Way::followed && left.fetch_sub(loan->filled) <= loan->filled) stop.request_stop();
      }
    };
    std::array<std::vector<std::pair<std::uint64_t, Records>>, 3> of_each;
    {
      std::vector<std::jthread> producers;
      for (auto& mine : of_each) producers.emplace_back([&] { produce(mine); });
    }
    if (ends[0] >= 0) close(ends[0]);
    EXPECT_TRUE(source.loss().none());
    EXPECT_EQ(pool.on_loan(), 0U);
    for (auto& mine : of_each) std::ranges::move(mine, std::back_inserter(got));
    std::ranges::sort(got, {}, &std::pair<std::uint64_t, Records>::first);
    std::size_t const again = input.options.overlap / input.records.front().size();
    Records all;
    for (auto const& [number, records] : got) {
      std::size_t const known = std::min({again, all.size(), records.size()});
      all.insert(all.end(), records.begin() + static_cast<std::ptrdiff_t>(known), records.end());
    }
    return all;
  }
  /// Returns the records that the places say.
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

/// A number of the environment: how many inputs of each framing there are, and from which seed on. `./dev borders` sets
/// them.
std::size_t number_of(char const* name, std::size_t preset) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  char const* const named = std::getenv(name);
  return named == nullptr ? preset : std::strtoull(named, nullptr, 10);
}

/// Each input is read with tiles of sizes that follow each other, so that the first border lies at each byte of several
/// records, and those behind it at each second one, third one and so on.
struct Sizes {
  std::size_t tile;     ///< The smallest one.
  std::size_t borders;  ///< Number of sizes.
  std::size_t bytes;    ///< Size of the input.
};

TEST_F(InputsWithAnyBorders, HaveTheSameRecordsHoweverTheyCome) {
  std::size_t const count = number_of("PENSTOCK_BORDERS", 3), first = number_of("PENSTOCK_BORDERS_SEED", 1);
  bool const all = count > 3;
  std::vector<Sizes> const sizes{{4096, all ? 64U : 8U, 10000},
                                 {20000 + 77, all ? 4U : 1U, 50000},
                                 {std::size_t{64} << 10U, all ? 4U : 1U, 150'000},
                                 {(std::size_t{1} << 20U) - 1, all ? 2U : 0U, 2'300'000}};
  std::size_t reads = 0, read_inputs = 0;
  for (std::size_t seed = first; seed < first + count; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    for (auto const& [least, borders, bytes] : sizes) {
      for (Input const& input : inputs(bytes, random)) {
        ++read_inputs;
        for (Way const way : ways) {
          if (follows(way) && input.options.overlap != 0) continue;
          if (auto const compression = compression_of_way(way); compression && !support::can_compress(*compression))
            continue;
          std::string const file = as_file(input, way, random);
          for (std::size_t tile = least; tile < least + borders; ++tile, ++reads) {
            std::size_t const part = 1 + random() % (bytes / 3);
            ASSERT_TRUE(read(input, file, way, tile, part) == input.records)
                << input.name << ", seed " << seed << ", way " << static_cast<int>(way) << ", tiles of " << tile
                << ", part " << part;
          }
        }
      }
    }
  }
  std::printf("%zu inputs, read %zu times\n", read_inputs, reads);
}

}  // namespace
}  // namespace penstock
