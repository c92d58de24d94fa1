// SPDX-License-Identifier: Apache-2.0
// Question: how fast do the CPU threads transform? Budget: 2^25 floats in half a second on two cores, so that the
// examples and tests that use it do not wait for it.
#include <cstdint>
#include <span>

#include <benchmark/benchmark.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

void on_cpu_device(benchmark::State& state) {
  cpu::CpuDevice device;
  Stream const stream = device.make_stream();
  auto const count = static_cast<std::size_t>(state.range(0));
  DeviceMemory const memory = device.allocate(count * sizeof(float));
  std::span const floats(reinterpret_cast<float*>(memory.bytes().data()), count);
  for (auto _ : state) {
    transform(floats, 0, floats, stream);
    stream.synchronize();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(on_cpu_device)->ArgName("floats")->Arg(1 << 10)->Arg(1 << 20)->Arg(1 << 25)->UseRealTime();

}  // namespace
}  // namespace penstock

BENCHMARK_MAIN();
