// SPDX-License-Identifier: Apache-2.0
// How many threads should touch a slab first? As many as bring 1 GiB in 150 ms: Slab::default_touch_threads, where
// there are CPUs for them.
#include <algorithm>
#include <cstdint>

#include <benchmark/benchmark.h>

#include "engine/machine/slab.hpp"

namespace penstock {
namespace {

/// Axes: mebibytes of the slab, threads that touch it.
void get_slab(benchmark::State& state, NumaNode const& node) {
  auto const bytes = static_cast<std::size_t>(state.range(0)) << 20;
  auto const threads = static_cast<std::size_t>(state.range(1));
  // A virtual machine gets memory from its host at first use, which costs ten times as much and is not measured.
  { Slab const warm(bytes, node, threads); }
  for (auto _ : state) {
    Slab slab(bytes, node, threads);
    benchmark::DoNotOptimize(slab.bytes().data());
    // A run does not wait until memory is released.
    state.PauseTiming();
    { Slab const gone = std::move(slab); }
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

/// The node with the most CPUs; a thread without a CPU of its own would only measure the scheduler.
NumaNode widest_node(Topology const& topology) {
  return *std::max_element(topology.nodes().begin(), topology.nodes().end(),
                           [](NumaNode const& a, NumaNode const& b) { return a.cpus.size() < b.cpus.size(); });
}

}  // namespace
}  // namespace penstock

int main(int count, char** words) {
  auto const node = penstock::widest_node(penstock::Topology::detect());
  auto* const bench = benchmark::RegisterBenchmark("get_slab", penstock::get_slab, node);
  bench->ArgNames({"mebibytes", "threads"})->UseRealTime()->Unit(benchmark::kMillisecond);
  for (std::int64_t const mebibytes : {64, 512}) {
    for (std::size_t threads = 1; threads <= std::min<std::size_t>(16, node.cpus.size()); threads *= 2) {
      bench->Args({mebibytes, static_cast<std::int64_t>(threads)});
    }
  }
  benchmark::Initialize(&count, words);
  benchmark::RunSpecifiedBenchmarks();
}
