// SPDX-License-Identifier: Apache-2.0
// Which way of reading fills tiles fastest, from a file that is in the page cache and from one that is not?
// FileReading's `automatic` must be within a tenth of the best, at less CPU where two are as fast
// (docs/decisions/files.md).
//
// PENSTOCK_BENCH_FOLDER is the folder of the file (default: that of temporary files), PENSTOCK_BENCH_MEBIBYTES its
// size.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "own_file.hpp"
#include <benchmark/benchmark.h>
#include <fcntl.h>

#include "engine/machine/host_limits.hpp"
#include "engine/machine/slab.hpp"
#include "ingest/file/file_reader.hpp"

namespace penstock {
namespace {

using Clock = std::chrono::steady_clock;

struct Way {
  char const* name;
  FileReading reading;
};
constexpr std::array<Way, 3> ways{
    {{"plain", FileReading::plain}, {"direct", FileReading::direct}, {"automatic", FileReading::automatic}}};

/// Axes: whether the page cache has the file, the way, KiB of a tile, producers.
void read_file(benchmark::State& state, OwnFile const& own, Way const& way, bool cached) {
  auto const tile = static_cast<std::size_t>(state.range(0)) << 10;
  auto const producers = static_cast<unsigned>(state.range(1));
  constexpr std::size_t tiles_each = 8;
  Slab const slab(tile * tiles_each * producers);
  FileReadingOptions const options{.reading = way.reading};
  std::vector<FileReader> readers;
  for (unsigned k = 0; k < producers; ++k) readers.emplace_back(options);
  std::uint64_t bytes = 0;
  double cpu = 0;
  auto const go_over = [&] {
    OpenFile file(own.path());
    std::atomic<std::uint64_t> next{0};
    std::vector<std::jthread> threads;
    for (unsigned k = 0; k < producers; ++k) {
      threads.emplace_back([&, k] {
        for (std::size_t turn = 0;; turn = (turn + 1) % tiles_each) {
          std::uint64_t const at = next.fetch_add(tile);
          if (at >= file.size()) return;
          auto const wanted = static_cast<std::size_t>(std::min<std::uint64_t>(tile, file.size() - at));
          readers[k].read(file, at, slab.bytes().subspan((k * tiles_each + turn) * tile, wanted));
        }
      });
    }
    threads.clear();
    return file.size();
  };
  if (cached) {
    std::vector<std::byte> some(1 << 20);
    OpenFile const file(own.path());
    for (std::uint64_t at = 0; at < file.size(); at += some.size()) file.read_at(at, some);
  }
  for (auto _ : state) {
    if (!cached) {
      OpenFile const file(own.path());
      posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
    }
    double const before = cpu_seconds();
    auto const start = Clock::now();
    bytes += go_over();
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - start).count());
    cpu += cpu_seconds() - before;
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.counters["cpu_s_per_GB"] = cpu / (double(bytes) / 1e9);
}

}  // namespace
}  // namespace penstock

int main(int count, char** words) {
  penstock::OwnFile const own;
  for (bool const cached : {true, false}) {
    for (auto const& way : penstock::ways) {
      auto const name = std::string(cached ? "cached/" : "cold/") + way.name;
      auto* const bench = benchmark::RegisterBenchmark(
          name.c_str(), [&own, &way, cached](benchmark::State& state) { read_file(state, own, way, cached); });
      bench->ArgNames({"tile_KiB", "producers"})->UseManualTime()->Unit(benchmark::kMillisecond);
      for (std::int64_t const tile : {64, 1024, 4096}) {
        for (std::int64_t const producers : {1, 2}) bench->Args({tile, producers});
      }
    }
  }
  benchmark::Initialize(&count, words);
  benchmark::RunSpecifiedBenchmarks();
}
