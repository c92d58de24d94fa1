// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/failures_to_order.hpp"
#include "support/says_it_is_a_gpu.hpp"
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "engine/flow/kept_awake.hpp"
#include "engine/flow/lanes_by_hand.hpp"
#include "engine/flow/tile_route.hpp"
#include "engine/plan/plan.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using test::end_of_child;
using test::Refusal;
using test::refuse;
using test::refuse_nothing;

/// Exit codes of a child.
enum Ended {
  well = 0,
  reached_the_end = 10,
  lost_a_tile,
  twice,
  out_of_order,
  wrong_report,
  lost_the_report,
  gave_tiles_before,
  another_exception
};

/// Calls `attempt` with 1, 2, 3 ... in a child each, until one had nothing refused. It tries all of the first ones;
/// then every seventh, in step with neither what a tile takes nor a batch.
void sweep(std::function<int(std::size_t)> const& attempt) {
  for (std::size_t nth = 1;; nth += nth < 150 ? 1 : 7) {
    ASSERT_LT(nth, 100'000U) << "it never ends";
    std::string const end = end_of_child([&] { return attempt(nth); });
    if (end == "code 10") return;
    EXPECT_EQ(end, "") << "with refusal " << nth;
    if (!end.empty()) return;
  }
}

constexpr std::size_t tiles = 24;
constexpr std::size_t records_at_once = 4;

/// Host stages, order and sink, with a thread in the place of the lanes.
int through_a_route(TileRoute::Options const& options, std::size_t nth) {
  std::vector<std::byte> slab(Pool::slab_bytes({.input_bytes = 256}, records_at_once));
  Pool pool(slab, {.input_bytes = 256}, records_at_once);
  std::vector<TileRecord> records(records_at_once);
  std::vector<std::uint64_t> sunk;
  sunk.reserve(tiles);
  std::mutex mutex;
  RunOutcomes outcomes;
  test::OneThread lane;
  std::atomic<bool> over{false};
  std::atomic<TileRoute*> made{nullptr};
  std::thread feeder([&] {
    while (made == nullptr && !over) std::this_thread::yield();
    TileRoute* const route = made;
    for (std::uint64_t sequence = 0; route != nullptr && sequence < tiles; ++sequence) {
      std::optional<Loan> loan;
      while (!(loan = pool.try_borrow())) std::this_thread::yield();
      (*loan)->sequence = sequence;
      route->send(std::move(*loan), nullptr);
    }
    if (route != nullptr) route->graph().end_input();
  });
  std::optional<TileRoute> route;
  refuse(Refusal::memory, nth);
  try {
    route.emplace(
        options, pool, records,
        [&](Completion& completion) {
          std::scoped_lock const lock(mutex);
          sunk.push_back(completion.loan->sequence);
        },
        outcomes, std::stop_source());
    route->lead_to(lane);
    lane.complete_into(&*route);
    route->graph().open_input();
    made = &*route;
    route->graph().wait();
  } catch (std::bad_alloc const&) {
  } catch (Error const&) {
  }
  bool const was_made = made != nullptr;
  over = true;
  feeder.join();
  lane.end();
  route.reset();
  if (!refuse_nothing()) return reached_the_end;
  if (pool.on_loan() != 0 || (was_made && sunk.size() != tiles)) return lost_a_tile;
  if (options.ordered && !std::is_sorted(sunk.begin(), sunk.end())) return out_of_order;
  return well;
}

TileRoute::Options with_stages() {
  TileRoute::Options options;
  options.host_stages = {{.name = "any", .body = [](Tile&) {}}, {.name = "two", .body = [](Tile&) {}, .at_once = 2}};
  options.consumers = 3;
  return options;
}

TEST(AGraphWithoutMemory, LosesNoTileOfAPlainSink) {
  sweep([](std::size_t nth) { return through_a_route({}, nth); });
}

TEST(AGraphWithoutMemory, LosesNoTileOfStagesAndOrder) {
  sweep([](std::size_t nth) {
    TileRoute::Options options = with_stages();
    options.ordered = true;
    return through_a_route(options, nth);
  });
}

TEST(AGraphWithoutMemory, LosesNoTileOfAParallelSink) {
  sweep([](std::size_t nth) {
    TileRoute::Options options = with_stages();
    options.parallel_sink = true;
    return through_a_route(options, nth);
  });
}

bool completed_all(std::array<std::atomic<int>, tiles> const& seen) {
  return std::ranges::all_of(seen, [](auto const& times) { return times.load() > 0; });
}

/// A run in which a host stage, the stage's result and the sink fail for some tiles: what fails has a text to be kept.
int through_a_pipeline(bool pushed, std::size_t nth) {
  cpu::CpuDevice device({.compute_threads = 1});
  Pipeline pipeline(device, {.tile = {.input_bytes = 64},
                             .producers = 2,
                             .lanes = 1,
                             .consumers = 2,
                             .ordered = true,
                             .host_stages = {{.name = "one with a name that needs memory",
                                              .body =
                                                  [](Tile& tile) {
                                                    if (tile.sequence % 3 == 1) {
                                                      throw std::runtime_error("A text that needs memory, too.");
                                                    }
                                                  },
                                              .at_once = 0}},
                             .tuning = {.tiles = records_at_once}});
  std::array<std::atomic<int>, tiles> seen{};
  auto const stages = on_device([](DeviceTile const&, StreamRef) { return std::size_t{0}; });
  auto const sink = [&](Completion& completion) {
    ++seen.at(completion.loan->sequence);
    if (completion.loan->sequence % 5 == 2) throw std::runtime_error("Another text that needs memory.");
  };
  std::atomic<std::size_t> submitted{0};
  std::optional<Report> report;
  int ended = well;
  refuse(Refusal::memory, nth);
  try {
    if (pushed) {
      pipeline.start(stages, sink);
      for (std::size_t tile = 0; tile < tiles; ++tile) {
        Loan loan = pipeline.feed().borrow();
        loan->filled = 1;
        pipeline.feed().submit(std::move(loan));
        ++submitted;
      }
      report = pipeline.drain();
    } else {
      std::size_t left = tiles;
      report = pipeline.run(serial([&](Tile&) -> std::optional<std::size_t> {
                              if (left == 0) return std::nullopt;
                              --left;
                              ++submitted;
                              return 1;
                            }),
                            stages, sink);
    }
  } catch (std::bad_alloc const&) {
  } catch (Error const&) {
  }
  if (!report && pipeline.running()) {
    try {
      report = pipeline.drain();
    } catch (std::exception const&) {
      ended = another_exception;
    }
  }
  bool const refused = refuse_nothing();
  if (!report && !pushed && completed_all(seen)) return lost_the_report;
  for (auto const& times : seen) {
    if (times > 1) return twice;
  }
  std::size_t completed = 0;
  for (auto const& times : seen) completed += static_cast<std::size_t>(times.load());
  if (completed != submitted || pipeline.pool().on_loan() != 0) return lost_a_tile;
  // The second tile fails in its host stage. If memory was refused before it was submitted, all that there was is well.
  if (report && ((report->ok() && submitted > 1) || report->tiles() != submitted)) return wrong_report;
  return refused || ended != well ? ended : reached_the_end;
}

TEST(APipelineWithoutMemory, GivesEachTileOfASourceItsCompletion) {
  sweep([](std::size_t nth) { return through_a_pipeline(false, nth); });
}

TEST(APipelineWithoutMemory, GivesEachTileThatIsFedItsCompletion) {
  sweep([](std::size_t nth) { return through_a_pipeline(true, nth); });
}

/// Every thread of device, pipeline and run is refused once.
int without_a_thread(std::size_t nth, bool pushed) {
  refuse(Refusal::threads, nth);
  std::atomic<std::size_t> completed{0};
  std::size_t submitted = 0;
  try {
    cpu::CpuDevice device({.compute_threads = 2});
    PipelineOptions options{
        .tile = {.input_bytes = 64}, .producers = 2, .lanes = 2, .consumers = 4, .tuning = {.tiles = 8}};
    options.ordered = true;
    options.host_stages = {{.name = "any", .body = [](Tile&) {}, .at_once = 0}};
    Pipeline pipeline(device, options);
    auto const stages = on_device([](DeviceTile const&, StreamRef) { return std::size_t{0}; });
    auto const sink = [&](Completion&) { ++completed; };
    try {
      if (pushed) {
        pipeline.start(stages, sink);
        for (; submitted < tiles; ++submitted) pipeline.feed().submit(pipeline.feed().borrow());
        static_cast<void>(pipeline.drain());
      } else {
        static_cast<void>(pipeline.run(serial([&](Tile&) -> std::optional<std::size_t> {
                                         if (submitted == tiles) return std::nullopt;
                                         ++submitted;
                                         return 1;
                                       }),
                                       stages, sink));
      }
    } catch (Error const& error) {
      if (error.kind() != ErrorKind::system) return another_exception;
      if (submitted != 0) return gave_tiles_before;
    }
    if (pipeline.running() || pipeline.pool().on_loan() != 0 || completed != submitted) return lost_a_tile;
  } catch (Error const& error) {
    if (error.kind() != ErrorKind::system) return another_exception;
  }
  return refuse_nothing() ? well : reached_the_end;
}

TEST(APipelineWithoutAThread, SaysSoAndLosesNothingWhicheverItIs) {
  sweep([](std::size_t nth) { return without_a_thread(nth, false); });
}

TEST(APipelineThatIsFedWithoutAThread, SaysSoAndLosesNothingWhicheverItIs) {
  sweep([](std::size_t nth) { return without_a_thread(nth, true); });
}

/// A pipeline's threads are counted among those that stay awake, unless there is no memory to; then another pipeline
/// has the room that was left.
int counted_or_not(std::size_t nth) {
  support::SaysItIsAGpu device(0, 0);
  Topology const topology = Topology::from_synthetic("numa:2 core:5 pu:1");
  PipelineOptions const wanted{.tile = {.input_bytes = 4096}, .aim = Aim::latency, .lanes = 1};
  bool refused = false;
  {
    KeptAwake first;
    refuse(Refusal::memory, nth);
    try {
      first.plan(wanted, {&device}, topology);
    } catch (std::bad_alloc const&) {
    }
    refused = refuse_nothing();
  }
  KeptAwake second;
  Plan const made = second.plan(wanted, {&device}, topology);
  if (made.options.tuning.borrow_spin != Tuning::for_ever || !made.remarks.empty()) return wrong_report;
  return refused ? well : reached_the_end;
}

/// Seen to fail if a pipeline takes away what it could not add.
TEST(ThreadsThatStayAwake, AreCountedWhollyOrNotAtAllWhicheverAllocationFails) {
  sweep(counted_or_not);
}

}  // namespace
}  // namespace penstock
