// SPDX-License-Identifier: Apache-2.0
// Question: what does it cost to have lines of a log counted by a pipeline on the CPU device, beside a plain program
// with two threads that does the same? Budget: at most 1.1 times its time, from a file in memory and through a pipe.
//
// Each iteration does both, one after the other. PENSTOCK_BENCH_FOLDER is the folder of the file (a tmpfs, best),
// PENSTOCK_BENCH_MEBIBYTES its size.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include "penstock/ingest/files.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

/// A log of lines of 40 to 200 bytes, which is removed when the bench ends.
class Log {
 public:
  Log() {
    char const* const folder = std::getenv("PENSTOCK_BENCH_FOLDER");
    char const* const mebibytes = std::getenv("PENSTOCK_BENCH_MEBIBYTES");
    std::filesystem::path const where = folder != nullptr ? folder : std::filesystem::temp_directory_path();
    path_ = where / ("penstock-lines-bench-" + std::to_string(getpid()));
    std::size_t const bytes = (mebibytes != nullptr ? std::strtoull(mebibytes, nullptr, 10) : 1024) << 20;
    std::string block;
    std::uint64_t state = 1;
    while (block.size() < std::size_t{8} << 20) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      block.append(40 + (state >> 33U) % 160, static_cast<char>('a' + (state >> 50U) % 26)) += '\n';
    }
    std::ofstream out(path_, std::ios::binary);
    for (std::size_t at = 0; at < bytes; at += block.size()) out << block;
    if (!out.flush()) {
      std::fprintf(stderr, "%s cannot be written: see that the disk has room for it\n", path_.c_str());
      std::exit(1);
    }
  }
  Log(Log const&) = delete;
  Log& operator=(Log const&) = delete;
  ~Log() { std::filesystem::remove(path_); }
  std::string path() const { return path_; }
  std::uint64_t bytes() const { return std::filesystem::file_size(path_); }

 private:
  std::filesystem::path path_;
};

/// Counts lines by the parity of their length.
std::array<std::uint64_t, 2> count_lines(std::span<std::byte const> text) {
  std::array<std::uint64_t, 2> counts{};
  auto const* at = reinterpret_cast<char const*>(text.data());
  auto const* const end = at + text.size();
  while (at < end) {
    auto const* const line_end = static_cast<char const*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    if (line_end == nullptr) break;
    ++counts.at(static_cast<std::size_t>(line_end - at) % 2);
    at = line_end + 1;
  }
  return counts;
}

constexpr std::size_t piece_bytes = std::size_t{1} << 20;

/// Two threads take pieces of the file alternately, each up to its last line's end, and the line that begins before it.
std::array<std::uint64_t, 2> plain_file(Log const& log) {
  int const file = open(log.path().c_str(), O_RDONLY | O_CLOEXEC);
  std::uint64_t const size = log.bytes();
  std::atomic<std::uint64_t> next{0};
  std::array<std::atomic<std::uint64_t>, 2> all{};
  {
    std::vector<std::jthread> threads;
    for (int k = 0; k < 2; ++k) {
      threads.emplace_back([&] {
        constexpr std::size_t longest = 4096;
        std::vector<std::byte> room(longest + piece_bytes);
        for (;;) {
          std::uint64_t const from = next.fetch_add(piece_bytes);
          if (from >= size) return;
          std::size_t const before = from == 0 ? 0 : longest;
          auto const got = static_cast<std::size_t>(
              std::max<ssize_t>(0, pread(file, room.data(), piece_bytes + before, static_cast<off_t>(from - before))));
          // A piece has the lines that end in it.
          std::size_t begin = before;
          while (begin > 0 && room[begin - 1] != std::byte{'\n'}) --begin;
          auto const counts = count_lines(std::span(room).subspan(begin, got - begin));
          for (std::size_t i = 0; i < 2; ++i) all[i].fetch_add(counts[i], std::memory_order_relaxed);
        }
      });
    }
  }
  close(file);
  return {all[0], all[1]};
}

/// One thread reads, the other counts, with eight pieces between them.
std::array<std::uint64_t, 2> plain_pipe(int from) {
  constexpr std::size_t pieces = 8, longest = 4096;
  struct Piece {
    std::vector<std::byte> room = std::vector<std::byte>(longest + piece_bytes);
    std::size_t begin = 0, end = 0;
    std::atomic<bool> full{false};
  };
  std::vector<std::unique_ptr<Piece>> ring;
  for (std::size_t k = 0; k < pieces; ++k) ring.push_back(std::make_unique<Piece>());
  std::jthread reader([&] {
    std::vector<std::byte> rest;
    for (std::size_t turn = 0;; turn = (turn + 1) % pieces) {
      Piece& piece = *ring[turn];
      piece.full.wait(true);
      std::ranges::copy(rest, piece.room.begin());
      std::size_t end = rest.size();
      ssize_t got = 1;
      while (end < piece_bytes && (got = read(from, &piece.room[end], piece_bytes - end)) > 0) {
        end += static_cast<std::size_t>(got);
      }
      std::size_t cut = end;
      while (cut > 0 && piece.room[cut - 1] != std::byte{'\n'}) --cut;
      rest.assign(piece.room.begin() + static_cast<std::ptrdiff_t>(cut),
                  piece.room.begin() + static_cast<std::ptrdiff_t>(end));
      piece.end = cut;
      piece.full.store(true);
      piece.full.notify_one();
      if (got <= 0 && cut == 0) return;
    }
  });
  std::array<std::uint64_t, 2> all{};
  for (std::size_t turn = 0;; turn = (turn + 1) % pieces) {
    Piece& piece = *ring[turn];
    piece.full.wait(false);
    if (piece.end == 0) return all;
    auto const counts = count_lines(std::span(piece.room).first(piece.end));
    for (std::size_t i = 0; i < 2; ++i) all[i] += counts[i];
    piece.full.store(false);
    piece.full.notify_one();
  }
}

class CountStage final : public Stage {
 public:
  explicit CountStage(std::array<std::atomic<std::uint64_t>, 2>& all) : all_(all) {}
  Promises promises() const noexcept override { return {.reads_once = true}; }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    stream.launch(1, [this, input = tile.input](KernelBlock block) {
      auto const counts = count_lines(input.in(block));
      for (std::size_t i = 0; i < 2; ++i) all_[i].fetch_add(counts[i], std::memory_order_relaxed);
    });
    return 0;
  }

 private:
  std::array<std::atomic<std::uint64_t>, 2>& all_;
};

struct Way {
  unsigned producers = 0, lanes = 0;  ///< If there are no producers, lanes fill and run to completion.
  std::size_t tile = 0;
};

std::array<std::uint64_t, 2> by_pipeline(std::string const& path, Way way) {
  auto const device = open_device("cpu");
  bool const to_completion = way.producers == 0;
  Pipeline pipeline(*device, {.tile = {.input_bytes = way.tile},
                              .producers = way.producers,
                              .lanes = way.lanes,
                              .tuning = {.sink_on_lanes = to_completion, .run_to_completion = to_completion}});
  FileSource source({path}, pipeline.pool(), {.framing = lines()});
  std::array<std::atomic<std::uint64_t>, 2> all{};
  Stages const stages{.make = [&](StageContext const&) { return std::make_unique<CountStage>(all); }, .merge = {}};
  Report const report = pipeline.run(source, stages, [](Completion&) {});
  return report.ok() ? std::array<std::uint64_t, 2>{all[0], all[1]} : std::array<std::uint64_t, 2>{};
}

/// Has another thread write the file into a pipe, and calls `body` with the end to read from.
template <class Body>
auto through_pipe(Log const& log, Body const& body) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
  fcntl(ends[0], F_SETPIPE_SZ, 1 << 20);  // A pipeline's source asks for the same, so that both have it.
  std::jthread const writer([&log, to = ends[1]] {
    int const file = open(log.path().c_str(), O_RDONLY | O_CLOEXEC);
    std::vector<char> some(256 << 10);
    bool read_on = true;
    for (ssize_t got = 0; read_on && (got = read(file, some.data(), some.size())) > 0;) {
      for (ssize_t at = 0; read_on && at < got;) {
        ssize_t const written = write(to, &some[static_cast<std::size_t>(at)], static_cast<std::size_t>(got - at));
        read_on = written > 0;
        at += written;
      }
    }
    close(file);
    close(to);
  });
  // The reader has a descriptor of its own for it, or reads to the end.
  auto const result = body(ends[0]);
  close(ends[0]);
  return result;
}

void lines_of(benchmark::State& state) {
  static Log const log;
  bool const piped = state.range(0) != 0;
  Way const way{static_cast<unsigned>(state.range(1)), static_cast<unsigned>(state.range(2)),
                static_cast<std::size_t>(state.range(3)) << 10};
  double plain = std::numeric_limits<double>::max(), ours = plain;
  auto const timed = [](double& least, auto const& body) {
    auto const start = std::chrono::steady_clock::now();
    auto const result = body();
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    return result;
  };
  for (auto _ : state) {
    auto const expected = timed(plain, [&] { return piped ? through_pipe(log, plain_pipe) : plain_file(log); });
    auto const got = timed(ours, [&] {
      if (!piped) return by_pipeline(log.path(), way);
      return through_pipe(log, [&](int from) { return by_pipeline("/dev/fd/" + std::to_string(from), way); });
    });
    if (got != expected || got[0] == 0) return state.SkipWithError("lines were lost");
  }
  state.counters["plain_s"] = plain;
  state.counters["penstock_s"] = ours;
  state.counters["times_plain"] = ours / plain;
}
BENCHMARK(lines_of)
    ->ArgNames({"piped", "producers", "lanes", "tile_kib"})
    ->Args({0, 1, 1, 1024})
    ->Args({0, 2, 1, 1024})
    ->Args({0, 2, 2, 1024})
    ->ArgsProduct({{0}, {0}, {2}, {256, 512, 1024, 2048}})
    ->Args({1, 1, 1, 1024})
    ->Args({1, 0, 2, 512})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace penstock

BENCHMARK_MAIN();
