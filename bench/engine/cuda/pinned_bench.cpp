// SPDX-License-Identifier: Apache-2.0
// Question: how long until 1 GiB of pinned tiles is ready, and how long does cudaHostAlloc take for as much? Budget:
// 0.3 of that.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include <benchmark/benchmark.h>
#include <cuda_runtime_api.h>

#include "engine/cuda/cuda_device.hpp"
#include "engine/cuda/probe.hpp"
#include "engine/machine/slab.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

std::size_t bytes_of(benchmark::State const& state) {
  return static_cast<std::size_t>(state.range(0)) << 20;
}

/// Runs `body` repeatedly. It makes something and releases it; the release is not timed in iterations that count.
template <class Body>
void ready(benchmark::State& state, Body body) {
  // A virtual machine gets memory from its host at first use, which is not measured.
  body(state, false);
  for (auto _ : state) body(state, true);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes_of(state)));
}

void host_alloc(benchmark::State& state) {
  if (cuda::device_count() == 0) return state.SkipWithError("there is no GPU");
  cuda::CudaDevice const device;
  ready(state, [](benchmark::State& timed, bool counts) {
    void* memory = nullptr;
    if (cudaHostAlloc(&memory, bytes_of(timed), cudaHostAllocPortable | cudaHostAllocMapped) != cudaSuccess)
      throw std::bad_alloc();
    if (counts) timed.PauseTiming();
    cudaFreeHost(memory);
    if (counts) timed.ResumeTiming();
  });
}
BENCHMARK(host_alloc)->ArgName("mebibytes")->Arg(64)->Arg(1024)->UseRealTime()->Unit(benchmark::kMillisecond);

void slab_and_pin(benchmark::State& state) {
  if (cuda::device_count() == 0) return state.SkipWithError("there is no GPU");
  cuda::CudaDevice device;
  ready(state, [&](benchmark::State& timed, bool counts) {
    Slab slab(bytes_of(timed), std::nullopt, static_cast<std::size_t>(timed.range(1)));
    Pinned pinned = device.pin(slab.bytes());
    if (counts) timed.PauseTiming();
    pinned = Pinned();
    { Slab const gone = std::move(slab); }
    if (counts) timed.ResumeTiming();
  });
}
BENCHMARK(slab_and_pin)
    ->ArgNames({"mebibytes", "threads"})
    ->ArgsProduct({{64, 1024}, {1, 4, 8, 16}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

/// Makes all that a pipeline makes before it takes the first tile.
void pipeline(benchmark::State& state) {
  if (cuda::device_count() == 0) return state.SkipWithError("there is no GPU");
  cuda::CudaDevice device;
  constexpr std::size_t tile = std::size_t{4} << 20;
  ready(state, [&](benchmark::State& timed, bool counts) {
    auto made = std::make_unique<Pipeline>(
        device, PipelineOptions{.tile = {.input_bytes = tile, .output_bytes = tile, .in_place = true},
                                .tuning = {.tiles = bytes_of(timed) / tile}});
    if (counts) timed.PauseTiming();
    made.reset();
    if (counts) timed.ResumeTiming();
  });
}
BENCHMARK(pipeline)->ArgName("mebibytes")->Arg(64)->Arg(1024)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace penstock

BENCHMARK_MAIN();
