// SPDX-License-Identifier: Apache-2.0
// Question: what does the route around the lanes take for a tile? Budget: 300 ns with a sink in
// it, 200 ns more for order, 300 ns more for a host stage; 150 ns with the sink on the lanes, 50 ns more if stages see
// tiles in order.
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/core/pool.hpp"
#include "engine/flow/tile_route.hpp"

namespace penstock {
namespace {

constexpr TileShape shape{.input_bytes = 256};

/// A route whose lanes complete a tile at once. The thread that sends tiles in is its only consumer, so that only the
/// work is measured: event_count_bench measures how soon another thread would have come.
struct World final : TileTaker {
  World(TileRoute::Options const& options, std::size_t tiles)
      : slab(Pool::slab_bytes(shape, tiles)),
        pool(slab, shape, tiles),
        records(tiles),
        loans(tiles),
        route(
            options, pool, records, [this](Completion& completion) { sink(completion); }, outcomes,
            std::stop_source()) {
    route.lead_to(*this);
    for (Loan& loan : loans) loan = pool.borrow();
  }
  bool submit(Loan& loan) noexcept override {
    way_back.take(Completion::done(std::move(loan)), false);
    return true;
  }
  bool submit(Loan& loan, std::uint64_t) noexcept override { return submit(loan); }
  bool lost() const noexcept override { return false; }
  /// The tiles stay on loan, since pool_bench measures the cost of a pool.
  void sink(Completion& completion) {
    ++sunk;
    Loan& place = loans[completion.loan->index()];
    place = std::move(completion.loan);
  }
  /// Sends all tiles through.
  void turn() {
    for (Loan& loan : loans) {
      loan->sequence = sequence++;
      route.send(std::move(loan), nullptr);
    }
    route.graph().wait();
  }

  std::vector<std::byte> slab;
  Pool pool;
  std::vector<TileRecord> records;
  std::vector<Loan> loans;  ///< Loans by the index of the tile.
  std::uint64_t sequence = 0;
  std::uint64_t sunk = 0;
  RunOutcomes outcomes;
  TileRoute route;
  CompletionTaker& way_back = route.way_back(0);
};

void through(benchmark::State& state, TileRoute::Options const& options) {
  auto const tiles = static_cast<std::size_t>(state.range(0));
  World world(options, tiles);
  for (auto _ : state) world.turn();
  if (world.sunk != world.sequence) state.SkipWithError("a tile was lost");
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void add_cases() {
  auto const add = [](std::string const& name, TileRoute::Options const& options) {
    benchmark::RegisterBenchmark(name.c_str(), through, options)->ArgName("tiles")->Arg(1)->Arg(256);
  };
  HostStage const nothing{.name = "nothing", .body = [](Tile&) {}};
  add("sink", {});
  add("ordered_sink", {.ordered = true});
  add("host_stage_and_sink", {.host_stages = {nothing}});
  add("sink_on_lanes", {.sink_at_once = true});
  add("ordered_stage_and_sink_on_lanes", {.stage_order = {.in_sequence = true}, .sink_at_once = true});
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  penstock::add_cases();
  benchmark::RunSpecifiedBenchmarks();
}
