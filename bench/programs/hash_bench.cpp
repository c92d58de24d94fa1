// SPDX-License-Identifier: Apache-2.0
// How fast is a file in the page cache hashed without a GPU: by the CPUs while one starts (docs/decisions/hash.md), and
// by a pipeline on the CPU device, mapped and copied? The first must not take longer than the second, and that not
// longer than the third.
//
// PENSTOCK_BENCH_FOLDER is the folder of the file (default: that of temporary files), PENSTOCK_BENCH_MEBIBYTES its
// size.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "../ingest/file/own_file.hpp"
#include <benchmark/benchmark.h>

#include "engine/core/pool.hpp"
#include "engine/machine/slab.hpp"
#include "engine/machine/topology.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/pipeline.hpp"
#include "programs/hash/hash_sink.hpp"
#include "programs/hash/hash_source.hpp"
#include "programs/hash/head_start.hpp"
#include "programs/measure/work_stages.hpp"

namespace penstock::cli {
namespace {

constexpr std::size_t kibibyte = 1024;

/// One file that is hashed once, and the book of its result.
struct Work {
  HashBook book;
  Progress progress{false};
  HashSource source;
  std::uint64_t bytes = 0;

  Work(std::string const& path, Pool const& pool)
      : book([this](HashedFile const& file) { bytes += file.digest ? file.bytes : 0; }),
        source(
            [given = false, path]() mutable -> std::optional<WantedFile> {
              if (std::exchange(given, true)) return std::nullopt;
              return WantedFile{.path = path, .problem = {}, .expected = {}};
            },
            pool, book, {}) {}
};

void head_start(benchmark::State& state, std::string const& path) {
  TileShape const shape{.input_bytes = static_cast<std::size_t>(state.range(0)) * kibibyte};
  auto const threads = static_cast<std::size_t>(state.range(1));
  Slab const slab(Pool::slab_bytes(shape, threads));
  Pool pool(slab.bytes(), shape, threads);
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    Work work(path, pool);
    take_head_start(work.source, pool, work.book, work.progress, {});
    bytes += work.bytes;
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

void pipeline(benchmark::State& state, std::string const& path, Transport transport) {
  auto const device = open_device("cpu");
  Pipeline pipe(*device, {.tile = {.input_bytes = static_cast<std::size_t>(state.range(0)) * kibibyte,
                                   .output_bytes = sizeof(Blake3Node)},
                          .tuning = {.transport = transport}});
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    Work work(path, pipe.pool());
    HashSink sink(work.source, work.book, work.progress, {});
    static_cast<void>(pipe.run(work.source, stage_per_lane<measure::HashStage>(),
                               [&](Completion& completion) { sink.take(completion); }));
    bytes += work.bytes;
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

}  // namespace
}  // namespace penstock::cli

int main(int count, char** words) {
  using namespace penstock::cli;
  penstock::OwnFile const own;
  std::string const path = own.path();
  auto const add = [](char const* name, auto body) {
    return benchmark::RegisterBenchmark(name, body)->UseRealTime()->Unit(benchmark::kMillisecond);
  };
  auto const cpus = static_cast<std::int64_t>(penstock::Topology::detect().busy_threads());
  auto* const first = add("head_start", [&](benchmark::State& state) { head_start(state, path); });
  first->ArgNames({"tile_KiB", "threads"});
  for (std::int64_t const tile : {256, 1024, 4096}) first->Args({tile, cpus});
  first->Args({4096, 1});
  for (auto const transport : {penstock::Transport::mapped, penstock::Transport::copies}) {
    auto const name = "pipeline/" + std::string(to_string(transport));
    auto* const other =
        add(name.c_str(), [&, transport](benchmark::State& state) { pipeline(state, path, transport); });
    other->ArgName("tile_KiB")->Arg(1024)->Arg(4096);
  }
  benchmark::Initialize(&count, words);
  benchmark::RunSpecifiedBenchmarks();
}
