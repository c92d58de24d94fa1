// SPDX-License-Identifier: Apache-2.0
// What does it cost to borrow a tile and to bring it home? Budget: 100 ns alone, 1 us with as many threads as CPUs.
#include <vector>

#include <benchmark/benchmark.h>

#include "penstock/core/pool.hpp"

namespace {

using namespace penstock;

constexpr TileShape shape{.input_bytes = 256};
constexpr std::size_t tiles = 1024;

struct World {
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, tiles));
  Pool pool{slab, shape, tiles};
};

void borrow_and_bring_home(benchmark::State& state) {
  static World world;
  for (auto _ : state) {
    Loan loan = world.pool.borrow();
    benchmark::DoNotOptimize(loan);
  }
}
BENCHMARK(borrow_and_bring_home)->ThreadRange(1, 16)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
