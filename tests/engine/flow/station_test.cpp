// SPDX-License-Identifier: Apache-2.0
// Tests what a consumer may be given while it is in a body of the graph and waits for tasks of its own.
#include "engine/flow/station.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "support/gate.hpp"
#include <gtest/gtest.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>

#include "engine/core/pool.hpp"
#include "engine/flow/graph.hpp"
#include "engine/flow/lanes_by_hand.hpp"
#include "engine/flow/tile_route.hpp"

namespace penstock {
namespace {

/// A sink that computes in parallel and holds a lock meanwhile. The first of its calls leads: another consumer has the
/// half of its tasks, and two more wait for the lock, when it waits for its tasks, with more tiles to be sunk.
class SinkUnderALock {
 public:
  void operator()(Completion& given) {
    static thread_local bool in_sink = false;
    Completion const completion = std::move(given);
    if (in_sink) {
      called_within_ = true;
      return;
    }
    in_sink = true;
    arrived_.fetch_add(1);
    {
      std::scoped_lock const lock(mutex_);
      if (!led_) lead();
      led_ = true;
    }
    in_sink = false;
  }
  /// Returns once another consumer has a task of the leader's.
  void await_lead() { shared_.await_reached(); }
  bool called_within() const { return called_within_; }

 private:
  void lead() {
    leader_ = std::this_thread::get_id();
    oneapi::tbb::parallel_for(
        oneapi::tbb::blocked_range<int>(0, 2, 1),
        [&](oneapi::tbb::blocked_range<int> const&) {
          if (std::this_thread::get_id() != leader_.load()) {
            shared_.open();
            shared_.pass();
            while (!leader_waits_) std::this_thread::yield();
            // The leader finds nothing that it may do, and looks again and again: enough to be given another call.
            for (int looks = 0; looks < 10'000 && !called_within_; ++looks) std::this_thread::yield();
            return;
          }
          shared_.await_reached();
          while (arrived_ < 3) std::this_thread::yield();
          leader_waits_ = true;
        },
        oneapi::tbb::simple_partitioner());
  }

  std::mutex mutex_;
  bool led_ = false;
  std::atomic<std::thread::id> leader_{};  ///< Atomic for the thread sanitizer, which does not see that oneTBB orders.
  support::Gate shared_;
  std::atomic<int> arrived_{0};
  std::atomic<bool> leader_waits_{false};  ///< It has done all of its own tasks.
  std::atomic<bool> called_within_{false};
};

/// The tiles behind the first come to the order the wrong way round, so that a consumer sends all of them to the sink
/// at once. Others that wait for tasks may take what a consumer sends.
///
/// Seen to fail if Station::serve does not isolate: the sink is called within itself, and would wait for its own lock.
TEST(AParallelSink, ThatWaitsForTasksUnderALockIsNotCalledWithinItself) {
  constexpr std::size_t tiles = 8;
  constexpr TileShape shape{.input_bytes = 256};
  alignas(256) std::array<std::byte, tiles * 256> slab{};
  Pool pool(slab, shape, tiles);
  std::array<TileRecord, tiles> records;
  SinkUnderALock sink;
  test::LanesByHand lanes;
  RunOutcomes outcomes;
  TileRoute route({.ordered = true, .parallel_sink = true, .consumers = 4}, pool, records,
                  [&](Completion& completion) { sink(completion); }, outcomes, {});
  route.lead_to(lanes);
  route.graph().open_input();
  std::jthread const consumer([&] {
    route.graph().attach();
    route.graph().wait();
  });
  for (std::size_t i = 0; i < tiles; ++i) {
    Loan loan = pool.borrow();
    loan->sequence = i;
    route.send(std::move(loan), nullptr);
  }
  route.way_back(0).take(Completion::done(std::move(lanes.kept[0])), false);
  sink.await_lead();
  for (std::size_t i = tiles - 1; i > 0; --i) route.way_back(0).take(Completion::done(std::move(lanes.kept[i])), false);
  route.graph().end_input();
  EXPECT_TRUE(pool.wait_until_home(std::chrono::hours(1)));
  EXPECT_FALSE(sink.called_within());
}

/// A body that computes in parallel on two threads. Its own thread is done first, and finds what it may do meanwhile.
class ParallelBody {
 public:
  void operator()() {
    static thread_local bool inside = false;
    if (inside) {
      called_within_ = true;
      return;
    }
    inside = true;
    auto const own = std::this_thread::get_id();
    std::atomic<bool> shared{false};
    oneapi::tbb::parallel_for(
        oneapi::tbb::blocked_range<int>(0, 2, 1),
        [&](oneapi::tbb::blocked_range<int> const&) {
          if (std::this_thread::get_id() == own) {
            for (int looks = 0; looks < 200 && !shared; ++looks) std::this_thread::yield();
            return;
          }
          shared = true;
          for (int looks = 0; looks < 1000 && !called_within_; ++looks) std::this_thread::yield();
        },
        oneapi::tbb::static_partitioner());
    inside = false;
  }
  bool called_within() const { return called_within_; }

 private:
  std::atomic<bool> called_within_{false};
};

/// A run of many tiles, eight at a time, in which a host stage or the sink is such a body.
///
/// Returns: nothing if this machine was too busy for more than some of them.
std::optional<bool> calls_within(ParallelBody& body, TileRoute::Options options, bool in_sink) {
  constexpr std::size_t tiles = 8;
  constexpr TileShape shape{.input_bytes = 256};
  alignas(256) std::array<std::byte, tiles * 256> slab{};
  Pool pool(slab, shape, tiles);
  std::array<TileRecord, tiles> records;
  test::OneThread lanes;
  RunOutcomes outcomes;
  options.consumers = 2;
  TileRoute route(options, pool, records,
                  [&](Completion&) {
                    if (in_sink) body();
                  },
                  outcomes, {});
  route.lead_to(lanes);
  lanes.complete_into(&route);
  route.graph().open_input();
  std::uint64_t sent = 0;
  std::jthread feeder([&] {
    // A busy machine gives a thread that yields little, so there the run has fewer tiles.
    auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    for (std::uint64_t sequence = 0; sequence < 2000 && !body.called_within(); ++sequence) {
      if (std::chrono::steady_clock::now() > until) break;
      sent = sequence + 1;
      if (sequence % tiles == 0 && !pool.wait_until_home(std::chrono::hours(1))) break;
      Loan loan = pool.borrow();
      loan->sequence = sequence;
      route.send(std::move(loan), nullptr);
    }
    route.graph().end_input();
  });
  route.graph().wait();
  feeder.join();
  lanes.end();
  EXPECT_EQ(pool.on_loan(), 0U);
  constexpr std::uint64_t enough = 100;
  return sent < enough && !body.called_within() ? std::nullopt : std::optional(body.called_within());
}

/// Seen to fail where the station calls for the next consumer with the isolation of a body.
TEST(AStageForTwoTilesAtOnce, IsNotCalledWithinItself) {
  ParallelBody body;
  auto const within = calls_within(body, {.host_stages = {{.body = [&](Tile&) { body(); }, .at_once = 2}}}, false);
  if (!within) GTEST_SKIP() << "this machine is too busy: too few tiles were sent";
  EXPECT_FALSE(*within);
}

/// Seen to fail where the order's node does so.
TEST(AParallelSinkInOrder, IsNotCalledWithinItself) {
  ParallelBody body;
  auto const within = calls_within(body, {.ordered = true, .parallel_sink = true}, true);
  if (!within) GTEST_SKIP() << "this machine is too busy: too few tiles were sent";
  EXPECT_FALSE(*within);
}

/// Work that returns only when two records are in it.
struct WorkOfTwo final : StationWork {
  explicit WorkOfTwo(Graph& of) : graph(of) {}
  void take(TileRecord&, bool) noexcept override {
    for (came.fetch_add(1); came < 2;) std::this_thread::yield();
    graph.settle();
  }
  Graph& graph;
  std::atomic<int> came{0};
};

/// They come by one message, for which one consumer is called. Seen to hang if that one calls no other.
TEST(AStationForTwoRecordsAtOnce, IsServedByTwoConsumersWhereTwoRecordsComeTogether) {
  Graph graph(2, std::chrono::nanoseconds(0), {});
  WorkOfTwo work(graph);
  Station& station = graph.add(2, work);
  graph.start();
  std::array<TileRecord, 2> records;
  RecordGroup both;
  for (TileRecord& record : records) {
    graph.owe();
    both.add(record);
  }
  station.in().try_put(both);
  graph.wait();
  EXPECT_EQ(work.came, 2);
}

/// Two tiles are in the user's function at once, each of which returns only when the other has come.
///
/// Seen to hang if the lanes' node asks for the key: an edge lets one message pass at a time.
TEST(AKeyOfAnOrderedStage, IsAskedForByAllConsumersAtOnce) {
  constexpr std::size_t tiles = 2;
  constexpr TileShape shape{.input_bytes = 256};
  alignas(256) std::array<std::byte, tiles * 256> slab{};
  Pool pool(slab, shape, tiles);
  std::array<TileRecord, tiles> records;
  std::atomic<std::size_t> came{0};
  auto const key = [&](Tile const& tile) {
    for (came.fetch_add(1); came < tiles;) std::this_thread::yield();
    return tile.sequence;
  };
  test::OneThread lanes;
  RunOutcomes outcomes;
  TileRoute route(
      {.host_stages = {{.body = [](Tile&) {}}}, .stage_order = {.in_sequence = true, .key = key}, .consumers = 2}, pool,
      records, [](Completion&) {}, outcomes, {});
  route.lead_to(lanes);
  lanes.complete_into(&route);
  route.graph().open_input();
  for (std::size_t i = 0; i < tiles; ++i) {
    Loan loan = pool.borrow();
    loan->sequence = i;
    route.send(std::move(loan), nullptr);
  }
  route.graph().end_input();
  route.graph().wait();
  lanes.end();
  EXPECT_EQ(pool.on_loan(), 0U);
}

}  // namespace
}  // namespace penstock
