// SPDX-License-Identifier: Apache-2.0
// Question: how fast does one CPU thread hash, by register width and by length? Budget: with the widest, 1 MiB at no
// less than three quarters of what `b3sum --num-threads 1` makes of a large cached file on the same machine.
#include <cstdint>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "kernels/blake3/blake3_subtree.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

std::vector<std::byte> noise(std::size_t size) {
  std::mt19937 random(1);
  std::vector<std::byte> bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

void subtree(benchmark::State& state) {
  std::size_t const width = static_cast<std::size_t>(state.range(0));
  auto widths = blake3_widths();
  while (widths.size() > 1 && widths.back().width > width) widths = widths.first(widths.size() - 1);
  if (widths.back().width != width) return state.SkipWithError("this processor has no such registers");
  auto const input = noise(static_cast<std::size_t>(state.range(1)));
  for (auto _ : state) benchmark::DoNotOptimize(blake3_subtree(input, 0, widths));
  state.SetBytesProcessed(state.iterations() * state.range(1));
  state.SetLabel(widths.back().name);
}
BENCHMARK(subtree)->ArgNames({"width", "bytes"})->ArgsProduct({{1, 4, 8, 16}, {1 << 20}});
BENCHMARK(subtree)
    ->ArgNames({"width", "bytes"})
    ->ArgsProduct({{static_cast<std::int64_t>(blake3_widths().back().width)},
                   {64, 1 << 10, 3 << 10, 8 << 10, 16 << 10, 64 << 10, 128 << 10, 4 << 20, 64 << 20}});

void parents(benchmark::State& state) {
  Blake3Width const* found = nullptr;
  for (Blake3Width const& each : blake3_widths()) {
    if (each.width == static_cast<std::size_t>(state.range(0))) found = &each;
  }
  if (found == nullptr) return state.SkipWithError("this processor has no such registers");
  constexpr std::size_t count = 64;
  auto const pairs = noise(count * blake3_block_bytes);
  std::vector<std::byte> values(count * blake3_value_bytes);
  for (auto _ : state) {
    found->parents(pairs.data(), count, values.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(count));
  state.SetLabel(found->name);
}
BENCHMARK(parents)->ArgName("width")->Arg(1)->Arg(4)->Arg(8)->Arg(16);

}  // namespace
}  // namespace penstock

BENCHMARK_MAIN();
