// SPDX-License-Identifier: Apache-2.0
// Question: how fast does a FileSource decode a compressed file, by one producer and by two? Budget: it takes no more
// CPU time than the format's own command, whose output is thrown away; where parts of the file can be found, two
// producers on two free CPUs take at most 0.6 times as long as one. `cpu` is the CPU time that a gigabyte of text
// takes.
//
// PENSTOCK_BENCH_MEBIBYTES is the size of the text. A format whose command is not installed is left out.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "../../cpu_with_children.hpp"
#include <benchmark/benchmark.h>
#include <unistd.h>

#include "engine/core/pool.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {
namespace {

/// A way to compress a text: `%` stands for the file, and the command is run for each of `parts` parts of it.
struct Way {
  char const* name;
  char const* command;
  char const* decode;
  unsigned parts;
};
constexpr std::array<Way, 6> ways{{{"gzip", "gzip -c %", "gzip -dc %", 1},
                                   {"bgzf", "bgzip -c %", "gzip -dc %", 1},
                                   {"zstd", "zstd -qc %", "zstd -qdc %", 1},
                                   {"zstd_frames", "zstd -qc %", "zstd -qdc %", 32},
                                   {"lz4", "lz4 -qc %", "lz4 -qdc %", 1},
                                   {"lz4_frames", "lz4 -qc %", "lz4 -qdc %", 32}}};

bool run(std::string command, std::string const& file, std::string const& redirect) {
  command.replace(command.find('%'), 1, file);
  return std::system((command + " 2>/dev/null " + redirect).c_str()) == 0;  // NOLINT(cert-env33-c)
}

void tell(benchmark::State& state, std::uint64_t bytes, double since) {
  double const all = double(bytes) * double(state.iterations());
  state.SetBytesProcessed(static_cast<std::int64_t>(all));
  state.counters["cpu"] = (cpu_seconds_with_children() - since) / (all * 1e-9);
}

/// A log and its compressed forms, which are removed when the bench ends.
class Texts {
 public:
  Texts() {
    char const* const mebibytes = std::getenv("PENSTOCK_BENCH_MEBIBYTES");
    bytes_ = (mebibytes != nullptr ? std::strtoull(mebibytes, nullptr, 10) : 256) << 20;
    std::filesystem::create_directory(folder_);
  }
  Texts(Texts const&) = delete;
  Texts& operator=(Texts const&) = delete;
  ~Texts() { std::filesystem::remove_all(folder_); }

  std::uint64_t bytes() const noexcept { return bytes_; }
  /// The path of the compressed text; empty, if the command is not there.
  std::string made(Way const& way) const {
    std::string path = folder_ / way.name;
    if (std::filesystem::exists(path)) return path;
    std::uint64_t line = 0;
    for (unsigned part = 0; part < way.parts; ++part) {
      std::string text;
      while (text.size() < bytes_ / way.parts) {
        line += 7919;
        text += "10.0.3." + std::to_string(line % 251) + " - - [17/May/2015:10:05:" + std::to_string(line % 60) +
                " +0000] \"GET /" + std::to_string(line * line % 1000003) + " HTTP/1.1\" 200 " +
                std::to_string(line * 31 % 99991) + "\n";
      }
      text.resize(bytes_ / way.parts);
      std::ofstream(folder_ / "part", std::ios::binary) << text;
      if (run(way.command, folder_ / "part", ">>" + path)) continue;
      std::filesystem::remove(path);
      return {};
    }
    return path;
  }

 private:
  std::filesystem::path const folder_ =
      std::filesystem::temp_directory_path() / ("penstock-decoding-bench-" + std::to_string(getpid()));
  std::uint64_t bytes_ = 0;
};

void by_source(benchmark::State& state, Texts const& texts, Way const& way) {
  std::string const path = texts.made(way);
  if (path.empty()) return state.SkipWithError("its command is not installed");
  constexpr std::size_t tiles = 16;
  constexpr TileShape shape{.input_bytes = std::size_t{1} << 20};
  std::vector<std::byte> slab(Pool::slab_bytes(shape, tiles));
  Pool pool(slab, shape, tiles);
  double const before = cpu_seconds_with_children();
  for (auto _ : state) {
    FileSource source({path}, pool, {.decompress = true});
    std::mutex next;
    std::atomic<std::uint64_t> bytes{0};
    std::vector<std::jthread> threads;
    for (std::int64_t k = 0; k < state.range(0); ++k) {
      threads.emplace_back([&] {
        for (;;) {
          Loan loan = pool.borrow();
          {
            std::scoped_lock const lock(next);
            if (!source.next(*loan)) return;
          }
          bytes += source.fill(*loan);
        }
      });
    }
    threads.clear();
    if (bytes != texts.bytes()) state.SkipWithError("bytes are missing");
  }
  tell(state, texts.bytes(), before);
}

void by_command(benchmark::State& state, Texts const& texts, Way const& way) {
  std::string const path = texts.made(way);
  if (path.empty()) return state.SkipWithError("its command is not installed");
  double const before = cpu_seconds_with_children();
  for (auto _ : state) run(way.decode, path, ">/dev/null");
  tell(state, texts.bytes(), before);
}

}  // namespace
}  // namespace penstock

int main(int count, char** arguments) {
  benchmark::Initialize(&count, arguments);
  penstock::Texts const texts;
  for (auto const& way : penstock::ways) {
    benchmark::RegisterBenchmark((std::string(way.name) + "/command").c_str(), [&](benchmark::State& state) {
      penstock::by_command(state, texts, way);
    })->UseRealTime();
    benchmark::RegisterBenchmark((std::string(way.name) + "/source").c_str(),
                                 [&](benchmark::State& state) { penstock::by_source(state, texts, way); })
        ->ArgName("producers")
        ->Arg(1)
        ->Arg(2)
        ->UseRealTime();
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
