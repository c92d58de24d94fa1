// SPDX-License-Identifier: Apache-2.0
// Question: how long does it take to merge the arrays of the lanes of several devices into one, by NCCL and by memory
// of the host? Budget: 64 Ki sums of 8 bytes in less than 1 ms on two GPUs, so that a merge while the pipeline runs
// costs nothing.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <benchmark/benchmark.h>

#include "penstock/collective.hpp"
#include "penstock/models/devices.hpp"

namespace penstock {
namespace {

/// Two lanes on each device; every GPU there is, or two CPU devices.
void merge(benchmark::State& state) {
  Devices const devices = open_devices(list_gpus().size() > 1 ? "cuda:all" : "cpu,cpu");
  auto const count = static_cast<std::size_t>(state.range(0));
  Reduction<std::uint64_t> sums(devices, count, ReduceOperation::sum, {.nccl = state.range(1) != 0});
  for (unsigned lane = 0; lane < 2 * devices.size(); ++lane) {
    Device& device = *devices.all()[lane % devices.size()];
    device.attach();
    Stream const stream = device.make_stream();
    sums.share({device, stream, {}, lane});
    stream.synchronize();
  }
  std::string how = sums.merge().how;
  if (state.range(1) != 0 && how.find("by NCCL") == std::string::npos) {
    return state.SkipWithError(("it went " + how).c_str());
  }
  for (auto _ : state) benchmark::DoNotOptimize(sums.merge().values.data());
  state.SetLabel(how);
}
BENCHMARK(merge)->ArgNames({"elements", "nccl"})->ArgsProduct({{256, 64 << 10, 4 << 20}, {0, 1}})->UseRealTime();

}  // namespace
}  // namespace penstock

BENCHMARK_MAIN();
