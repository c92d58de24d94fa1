// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/feed_waits.hpp"

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/gate.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "penstock/error.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

/// Four tiles, and threads that feed.
struct FeedersOfFourTiles : testing::Test {
  static constexpr TileShape shape{.input_bytes = 256};
  alignas(256) std::array<std::byte, 4 * 256> slab{};
  Pool pool{slab, shape, 4};
  std::stop_token const never{};

  void TearDown() override { EXPECT_EQ(pool.on_loan(), 0U) << "a tile never came home"; }
  static Loan have(std::optional<Loan> loan) { return loan ? std::move(*loan) : Loan(); }

  /// Borrows a tile for which it has to wait; `bring` gives one back, on another thread, once that has lasted.
  void expect_served(FeedWaits& waits, std::function<void()> const& bring) {
    std::atomic<bool> over{false};
    std::jthread const other([&] {
      for (int looks = 0; looks < 20'000 && !over; looks = pool.waiting() == 1 ? looks + 1 : 0)
        std::this_thread::yield();
      bring();
    });
    EXPECT_NO_THROW(EXPECT_TRUE(waits.borrow(never, 0).has_value()));
    over = true;
  }
};

/// Runs `threads` threads with a tile each, of which each wants another.
template <class Borrow>
void expect_one_is_told(std::size_t threads, Borrow const& borrow) {
  std::barrier each_has_one(static_cast<std::ptrdiff_t>(threads));
  std::atomic<std::size_t> told{0};
  std::atomic<std::size_t> served{0};
  {
    std::vector<std::jthread> feeders;
    for (std::size_t i = 0; i < threads; ++i) {
      feeders.emplace_back([&] {
        Loan const first = borrow();
        each_has_one.arrive_and_wait();
        try {
          Loan const second = borrow();
          ++served;
        } catch (Error const& error) {
          EXPECT_THAT(error.what(), testing::HasSubstr("lent to a thread that waits for another one"));
          ++told;
        }
      });
    }
  }
  EXPECT_GE(told, 1U);
  EXPECT_EQ(told + served, threads);
}

/// Seen to hang if all_wait() says no.
TEST_F(FeedersOfFourTiles, AreToldWhenEachHasOneAndWantsAnother) {
  FeedWaits waits(pool, milliseconds(5));
  expect_one_is_told(4, [&] { return have(waits.borrow(never, 0)); });
}

TEST_F(FeedersOfFourTiles, AreToldWhenOneHasThemAll) {
  FeedWaits waits(pool, milliseconds(5));
  std::vector<Loan> held;
  for (int i = 0; i < 4; ++i) held.push_back(have(waits.try_borrow(0)));
  EXPECT_THROW(waits.borrow(never, 0), Error);
  held.clear();
  EXPECT_TRUE(waits.borrow(never, 0).has_value());
}

TEST_F(FeedersOfFourTiles, AreToldAlsoWhereAnotherTileIsStranded) {
  FeedWaits waits(pool, milliseconds(5));
  have(pool.try_borrow()).strand();
  expect_one_is_told(3, [&] { return have(waits.borrow(never, 0)); });
}

TEST_F(FeedersOfFourTiles, AreLetGoByAStopWhileTheyWaitForEachOther) {
  FeedWaits waits(pool, hours(1));
  std::vector<Loan> held;
  for (int i = 0; i < 4; ++i) held.push_back(have(waits.try_borrow(0)));
  std::stop_source stop;
  std::jthread const stopper([&] {
    while (pool.waiting() == 0) std::this_thread::yield();
    stop.request_stop();
  });
  EXPECT_FALSE(waits.borrow(stop.get_token(), 0));
}

/// Seen to throw if a tile counts though its borrower does not wait, or no longer does.
TEST_F(FeedersOfFourTiles, WaitForOneThatWillSubmit) {
  FeedWaits waits(pool, std::chrono::nanoseconds(8));
  support::Gate waited;
  std::barrier lent(2);
  std::jthread const other([&] {
    std::vector<Loan> held;
    held.push_back(have(waits.borrow(never, 0)));
    for (int i = 1; i < 3; ++i) held.push_back(have(waits.try_borrow(0)));
    lent.arrive_and_wait();
    waited.pass();
    for (Loan& loan : held) waits.submitted(loan);
  });
  Loan const own = have(waits.try_borrow(0));
  lent.arrive_and_wait();
  expect_served(waits, [&] { waited.open(); });
}

/// Seen to throw if a tile that is submitted still counts for the thread that had borrowed it.
TEST_F(FeedersOfFourTiles, WaitForTilesThatAreUnderWay) {
  FeedWaits waits(pool, std::chrono::nanoseconds(8));
  std::vector<Loan> under_way;
  for (int i = 0; i < 4; ++i) {
    under_way.push_back(have(waits.try_borrow(0)));
    waits.submitted(under_way.back());
  }
  expect_served(waits, [&] { under_way.pop_back(); });
}

/// Seen to throw if a tile that went home still counts for the thread that had borrowed it.
TEST_F(FeedersOfFourTiles, WaitForTilesThatThePoolLent) {
  FeedWaits waits(pool, std::chrono::nanoseconds(8));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(waits.borrow(never, 0).has_value()) << "given back at once";
  std::vector<Loan> lent;
  for (int i = 0; i < 4; ++i) lent.push_back(pool.borrow());
  expect_served(waits, [&] { lent.pop_back(); });
}

/// Seen to throw without the note that loans move.
TEST_F(FeedersOfFourTiles, MayHandTheirLoansToThreadsThatSubmitThem) {
  FeedWaits waits(pool, std::chrono::nanoseconds(8));
  for (std::size_t const many : {1U, 4U}) {
    std::vector<Loan> handed;
    while (handed.size() < many) handed.push_back(have(waits.try_borrow(0)));
    auto const submit = [&] {
      for (Loan& loan : handed) {
        waits.submitted(loan);
        loan.give_back();
      }
    };
    if (many == 4) {
      expect_served(waits, submit);
    } else {
      std::jthread const worker(submit);
    }
  }
}

/// The sink has three tiles, and a thread that feeds the fourth. Seen to fail if that one counts as the sink's.
TEST_F(FeedersOfFourTiles, BlameNoSinkForATileThatOneOfThemHas) {
  static std::atomic<unsigned> said;
  said = 0;
  MessageHook const before = set_message_hook([](std::string_view) noexcept { ++said; });
  FeedWaits waits(pool, std::chrono::nanoseconds(8));
  std::array const with_the_sink{pool.borrow(), pool.borrow(), pool.borrow()};
  std::atomic<unsigned> looks{0};
  std::barrier lent(2);
  std::jthread const other([&] {
    Loan const own = have(waits.try_borrow(0));
    lent.arrive_and_wait();
    while (looks < 20 && said == 0) std::this_thread::yield();
  });
  lent.arrive_and_wait();
  auto const none_is_under_way = [&] {
    ++looks;
    return false;
  };
  EXPECT_TRUE(waits.borrow(never, 0, none_is_under_way).has_value());
  EXPECT_EQ(said, 0u);
  set_message_hook(before);
}

TEST(FeedersOfAPipeline, AreToldWhenEachHasATileAndWantsAnother) {
  cpu::CpuDevice device({.compute_threads = 1});
  Pipeline pipeline(device,
                    {.tile = {.input_bytes = 64}, .lanes = 1, .tuning = {.tiles = 4, .patience = milliseconds(200)}});
  pipeline.start(on_device([](DeviceTile const&, StreamRef) { return std::size_t{0}; }), [](Completion&) {});
  Feed feed = pipeline.feed();
  expect_one_is_told(4, [&] { return feed.borrow(); });
  EXPECT_EQ(pipeline.pool().on_loan(), 0U);
  EXPECT_EQ(pipeline.drain().tiles(), 0U);
}

}  // namespace
}  // namespace penstock
