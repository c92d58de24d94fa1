// SPDX-License-Identifier: Apache-2.0
// Question: what does it cost to borrow and return a tile? Budget: 100 ns alone, 1 us with as many threads as CPUs; 1
// us if other threads wait for it, provided that the pool has a spin.
#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/core/event_count.hpp"
#include "engine/core/mailbox.hpp"
#include "engine/core/pool.hpp"

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

/// Borrowers do nothing with their tiles, which another thread returns at once, as a sink does: how long does that
/// thread need for a tile? `spin` is the pool's.
void bring_home_to_those_who_wait(benchmark::State& state) {
  constexpr std::size_t few = 16;
  std::vector<std::byte> slab(Pool::slab_bytes(shape, few));
  Pool pool(slab, shape, few, std::chrono::microseconds(state.range(1)));
  Mailbox<Tile*> borrowed(few);
  std::stop_source stop;
  std::vector<std::jthread> borrowers;
  for (int i = 0; i < state.range(0); ++i) {
    borrowers.emplace_back([&] {
      while (auto loan = pool.borrow(stop.get_token())) borrowed.push(loan->release());
    });
  }
  for (auto _ : state) {
    std::optional<Tile*> tile;
    while (!(tile = borrowed.pop())) relax_cpu();
    Loan::resume(*tile).give_back();
  }
  state.SetItemsProcessed(state.iterations());
  stop.request_stop();
  borrowers.clear();
  while (auto const tile = borrowed.pop()) Loan::resume(*tile).give_back();
}
BENCHMARK(bring_home_to_those_who_wait)
    ->ArgNames({"borrowers", "spin_us"})
    ->ArgsProduct({{1, 4, 13}, {0, 5, 20, 50}})
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
