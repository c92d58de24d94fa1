// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/gate.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "penstock/error.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

constexpr int own_code = 7;

PipelineOptions few_tiles(unsigned consumers = 1) {
  return {.tile = {.input_bytes = 64}, .producers = 1, .lanes = 1, .consumers = consumers, .tuning = {.tiles = 4}};
}

Stages nothing() {
  return on_device([](DeviceTile const&, StreamRef) { return std::size_t{0}; });
}

std::optional<std::size_t> endless(Tile&) {
  return 1;
}

/// The pipeline is destroyed by the thread that exits, while the first one is in `run`.
[[noreturn]] void exit_beside_a_run() {
  alarm(300);
  static cpu::CpuDevice device({.compute_threads = 1});
  static Pipeline pipeline(device, few_tiles());
  static std::promise<void> going;
  std::atomic<bool> told{false};
  std::thread([] {
    going.get_future().wait();
    std::exit(own_code);
  }).detach();
  Report const report = pipeline.run(serial(endless), nothing(), [&](Completion&) {
    if (!told.exchange(true)) going.set_value();
  });
  if (!report.stopped) std::_Exit(1);
  for (;;) pause();
}

[[noreturn]] void exit_in_the_sink_of_a_run(unsigned consumers) {
  alarm(300);
  static cpu::CpuDevice device({.compute_threads = 1});
  static Pipeline pipeline(device, few_tiles(consumers));
  static_cast<void>(pipeline.run(serial(endless), nothing(), [](Completion&) { std::exit(own_code); }));
  std::_Exit(1);
}

[[noreturn]] void exit_in_the_sink_of_a_feed() {
  alarm(300);
  static cpu::CpuDevice device({.compute_threads = 1});
  static Pipeline pipeline(device, few_tiles());
  pipeline.start(nothing(), [](Completion&) { std::exit(own_code); });
  pipeline.feed().submit(pipeline.feed().borrow());
  for (;;) pause();
}

struct APipelineThatDies : testing::Test {
  APipelineThatDies() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(APipelineThatDies, AtExitBesideItsRunStopsTheRun) {
  EXPECT_EXIT(exit_beside_a_run(), testing::ExitedWithCode(own_code), "");
}

TEST_F(APipelineThatDies, AtExitInTheSinkOfARunIsLeftAsItIs) {
  EXPECT_EXIT(exit_in_the_sink_of_a_run(1), testing::ExitedWithCode(own_code), "destroyed by its own sink");
  EXPECT_EXIT(exit_in_the_sink_of_a_run(3), testing::ExitedWithCode(own_code), "destroyed by its own sink");
}

TEST_F(APipelineThatDies, AtExitInTheSinkOfAFeedIsLeftAsItIs) {
  EXPECT_EXIT(exit_in_the_sink_of_a_feed(), testing::ExitedWithCode(own_code), "destroyed by its own sink");
}

TEST_F(APipelineThatDies, WhileAnotherThreadRunsItEndsThatRunFirst) {
  cpu::CpuDevice device({.compute_threads = 1});
  std::optional<Pipeline> pipeline(std::in_place, device, few_tiles());
  std::promise<void> going;
  std::atomic<std::uint64_t> sunk{0};
  std::thread runner([&, &running = *pipeline] {
    Report const report = running.run(serial(endless), nothing(), [&](Completion&) {
      if (sunk.fetch_add(1) == 0) going.set_value();
    });
    EXPECT_TRUE(report.stopped);
    EXPECT_EQ(report.tiles(), sunk.load());
  });
  going.get_future().wait();
  pipeline.reset();
  runner.join();
}

std::vector<std::string> said;
void keep(std::string_view sentence) noexcept {
  said.emplace_back(sentence);
}

/// A stage that waits at a gate, so that one tile is with it and the others behind it.
struct APipelineThatIsNeverDrained : testing::Test {
  APipelineThatIsNeverDrained() { said.clear(); }
  ~APipelineThatIsNeverDrained() override { set_message_hook(before); }
  void start(std::size_t tiles) {
    PipelineOptions options = few_tiles();
    options.tuning.slots = 1;
    pipeline.emplace(device, options);
    pipeline->start(on_device([this](DeviceTile const& tile, StreamRef) {
                      gate.pass();
                      if (tile.tag == 9) throw std::runtime_error("no nines");
                      return std::size_t{0};
                    }),
                    [this](Completion&) { ++sunk; });
    for (std::size_t i = 0; i < tiles; ++i) submit(0);
  }
  void submit(std::uint64_t tag) {
    Loan loan = pipeline->feed().borrow();
    loan->tag = tag;
    pipeline->feed().submit(std::move(loan));
  }

  MessageHook const before = set_message_hook(keep);
  support::Gate gate;
  std::atomic<std::size_t> sunk{0};
  cpu::CpuDevice device{{.compute_threads = 1}};
  std::optional<Pipeline> pipeline;
};

TEST_F(APipelineThatIsNeverDrained, SaysHowManyTilesItCancelledWhenItDies) {
  start(4);
  gate.await_reached();
  pipeline->stop();
  gate.open();
  pipeline.reset();
  EXPECT_THAT(said, testing::ElementsAre(testing::HasSubstr("of its 4 tiles 3 were cancelled, 0 failed")));
}

TEST_F(APipelineThatIsNeverDrained, SaysHowManyTilesFailedWhenItDies) {
  gate.open();
  start(2);
  submit(9);
  while (sunk < 3) std::this_thread::yield();
  pipeline.reset();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_THAT(said.front(), testing::HasSubstr("1 failed"));
}

/// Its tiles are done, and its results are lost.
TEST_F(APipelineThatIsNeverDrained, SaysWhichPartOfItsRunFailedWhenItDies) {
  struct WithoutFinish final : Stage {
    explicit WithoutFinish(StageContext const&) {}
    std::size_t run(DeviceTile const&, StreamRef) override { return 0; }
    void finish(StreamRef) override { throw std::runtime_error("no sums"); }
  };
  pipeline.emplace(device, few_tiles());
  pipeline->start(stage_per_lane<WithoutFinish>(), [this](Completion&) { ++sunk; });
  submit(0);
  while (sunk < 1) std::this_thread::yield();
  pipeline.reset();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_THAT(said.front(), testing::HasSubstr("its run failed in finish: no sums"));
}

TEST_F(APipelineThatIsNeverDrained, SaysNothingIfItLostNothing) {
  start(0);
  pipeline.reset();
  EXPECT_THAT(said, testing::IsEmpty());
}

TEST(APipelineThatTwoThreadsStart, IsStartedByOneOfThem) {
  cpu::CpuDevice device({.compute_threads = 1});
  Pipeline pipeline(device, few_tiles());
  for (int round = 0; round < 20; ++round) {
    std::barrier together(2);
    std::atomic<int> started{0};
    std::atomic<int> refused{0};
    auto const start = [&] {
      together.arrive_and_wait();
      try {
        pipeline.start(nothing(), [](Completion&) {});
        ++started;
      } catch (Error const& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("running already"));
        ++refused;
      }
    };
    std::thread other(start);
    start();
    other.join();
    ASSERT_EQ(started, 1);
    ASSERT_EQ(refused, 1);
    pipeline.feed().submit(pipeline.feed().borrow());
    EXPECT_EQ(pipeline.drain().tiles_done, 1U);
  }
  EXPECT_EQ(pipeline.pool().on_loan(), 0U);
}

/// Borrows all that there is, and one more.
template <class Borrow>
bool is_told_not_to_wait(Borrow const& borrow) {
  std::vector<Loan> held;
  try {
    for (;;) held.push_back(borrow());
  } catch (Error const& error) {
    return std::string(error.what()).find("try_borrow") != std::string::npos;
  }
}

TEST(ABorrowInThePipelineItself, IsAnErrorInsteadOfAWait) {
  cpu::CpuDevice device({.compute_threads = 1});
  std::atomic<int> told{0};
  std::atomic<int> tried{0};
  std::optional<Feed> feed;
  auto const try_it = [&] {
    std::stop_source never;
    bool const always = is_told_not_to_wait([&] { return feed->borrow(); });
    bool const until_stopped = is_told_not_to_wait([&] { return feed->borrow(never.get_token()).value(); });
    told += (always ? 1 : 0) + (until_stopped ? 1 : 0);
    ++tried;
    tried.notify_all();
  };
  for (bool const on_lanes : {false, true}) {
    PipelineOptions options = few_tiles();
    options.tuning.sink_on_lanes = on_lanes;
    options.host_stages = {{.name = "any", .body = [&](Tile&) { try_it(); }, .at_once = 1}};
    Pipeline pipeline(device, options);
    feed = pipeline.feed();
    pipeline.start(on_device([&](DeviceTile const&, StreamRef) {
                     try_it();
                     return std::size_t{0};
                   }),
                   [&](Completion&) { try_it(); });
    feed->submit(feed->borrow());
    // A run whose input has ended lends nothing, and says so instead.
    for (int seen = tried; seen % 3 != 0 || seen == (on_lanes ? 3 : 0); seen = tried) tried.wait(seen);
    EXPECT_TRUE(pipeline.drain().ok());
    EXPECT_EQ(pipeline.pool().on_loan(), 0U);
  }
  EXPECT_EQ(told, 2 * 3 * 2);
}

}  // namespace
}  // namespace penstock
