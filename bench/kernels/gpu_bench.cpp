// SPDX-License-Identifier: Apache-2.0
// Question: how fast are the kernels on a GPU, by tile size and number of streams? Budget: BLAKE3 of 4 MiB tiles over 4
// streams at no less than 150 GB/s, three times what the link brings; the transform of 2^25 floats in 1 ms.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/cuda/cuda_device.hpp"
#include "engine/cuda/probe.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

/// Rounds over all streams between two waits, so many that waiting does not matter.
constexpr int rounds = 64;

/// Input and outputs of one stream, which hashes them again and again.
struct Place {
  Stream stream;
  DeviceMemory input, node, scratch;
};

void blake3_tiles(benchmark::State& state) {
  if (cuda::device_count() == 0) return state.SkipWithError("there is no GPU");
  cuda::CudaDevice device;
  auto const bytes = static_cast<std::size_t>(state.range(0));
  std::vector<Place> places;
  for (std::int64_t i = 0; i < state.range(1); ++i) {
    places.push_back({device.make_stream(), device.allocate(bytes), device.allocate(sizeof(Blake3Node)),
                      device.allocate(blake3_scratch_bytes(bytes))});
  }
  blake3_prepare(places.front().stream);
  for (auto _ : state) {
    for (int round = 0; round < rounds; ++round) {
      for (Place& at : places) blake3_tile(at.input.bytes(), 0, at.node.bytes(), at.scratch.bytes(), at.stream);
    }
    device.synchronize();
  }
  state.SetBytesProcessed(state.iterations() * rounds * state.range(0) * state.range(1));
}
BENCHMARK(blake3_tiles)
    ->ArgNames({"bytes", "streams"})
    ->ArgsProduct({{64 << 10, 1 << 20, 4 << 20, 16 << 20}, {1, 4, 16}})
    ->UseRealTime();

void transform_in_place(benchmark::State& state) {
  if (cuda::device_count() == 0) return state.SkipWithError("there is no GPU");
  cuda::CudaDevice device;
  Stream const stream = device.make_stream();
  auto const count = static_cast<std::size_t>(state.range(0));
  DeviceMemory const memory = device.allocate(count * sizeof(float));
  std::span const floats(reinterpret_cast<float*>(memory.bytes().data()), count);
  transform_prepare(stream);
  for (auto _ : state) {
    transform(floats, 0, floats, stream);
    stream.synchronize();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(transform_in_place)->ArgName("floats")->Arg(1 << 20)->Arg(1 << 25)->UseRealTime();

}  // namespace
}  // namespace penstock

BENCHMARK_MAIN();
