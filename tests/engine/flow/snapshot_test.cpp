// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/gate.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/report.hpp"

namespace penstock {
namespace {

using support::Gate;
using testing::HasSubstr;

/// The sum of one count of all lanes.
template <class Part>
std::uint64_t sum(Snapshot const& of, Part part) {
  return std::transform_reduce(of.lanes.begin(), of.lanes.end(), std::uint64_t{0}, std::plus<>(), part);
}

std::uint64_t at_sink(Snapshot const& of) {
  return of.done + of.failed + of.cancelled;
}

/// Expects what holds in every snapshot.
void expect_conserved(Snapshot const& of) {
  EXPECT_LE(at_sink(of), of.submitted);
  EXPECT_LE(of.sink_failures, at_sink(of));
  EXPECT_EQ(of.under_way(), of.submitted - at_sink(of));
  std::uint64_t const put = sum(of, [](LaneSnapshot const& lane) { return lane.put; });
  std::uint64_t const done = sum(of, [](LaneSnapshot const& lane) { return lane.done; });
  EXPECT_LE(of.done, done);
  EXPECT_LE(put, of.submitted);
  for (LaneSnapshot const& lane : of.lanes) {
    EXPECT_LE(lane.done, lane.returned);
    EXPECT_LE(lane.returned, lane.put);
    EXPECT_LE(lane.found.all(), lane.returned);
    EXPECT_LE(lane.batches, lane.put + 1) << "a batch has a tile at least, and is counted behind them";
    EXPECT_LE(lane.bytes_up, lane.done * 64);
  }
  DeviceSnapshot devices;
  for (DeviceSnapshot const& device : of.devices) {
    devices.done += device.done;
    devices.bytes_up += device.bytes_up;
    devices.bytes_down += device.bytes_down;
  }
  EXPECT_EQ(devices.done, done);
  EXPECT_EQ(devices.bytes_up, of.bytes_up());
  EXPECT_EQ(devices.bytes_down, of.bytes_down());
  EXPECT_LE(of.pool.lent + of.pool.home, of.pool.tiles);
}

/// Expects that no count of `now` is less than that of `before`.
void expect_not_less(Snapshot const& before, Snapshot const& now) {
  EXPECT_LE(before.submitted, now.submitted);
  EXPECT_LE(before.done, now.done);
  EXPECT_LE(before.failed, now.failed);
  EXPECT_LE(before.cancelled, now.cancelled);
  ASSERT_EQ(before.lanes.size(), now.lanes.size());
  for (std::size_t i = 0; i < now.lanes.size(); ++i) {
    EXPECT_LE(before.lanes[i].put, now.lanes[i].put);
    EXPECT_LE(before.lanes[i].returned, now.lanes[i].returned);
    EXPECT_LE(before.lanes[i].done, now.lanes[i].done);
    EXPECT_LE(before.lanes[i].bytes_up, now.lanes[i].bytes_up);
    EXPECT_LE(before.lanes[i].found.all(), now.lanes[i].found.all());
  }
}

/// Two CPU devices under one pipeline of eight tiles and two lanes. Each test ends with every tile home.
struct SnapshotOfAPipeline : testing::Test {
  cpu::CpuDevice first{{.ordinal = 0}}, second{{.ordinal = 1}};
  std::optional<Pipeline> made;

  Pipeline& open(SignalKind signal = SignalKind::callback) {
    PipelineOptions options{.tile = {.input_bytes = 64, .output_bytes = 64, .in_place = true},
                            .producers = 2,
                            .lanes = 2,
                            .consumers = 1,
                            .tuning = {.tiles = 8, .slots = 2, .transport = Transport::copies, .signal = signal}};
    return made.emplace(std::vector<Device*>{&first, &second}, options);
  }
  void TearDown() override { EXPECT_TRUE(!made || made->pool().on_loan() == 0) << "a tile never came home"; }
};

void submit(Feed const& feed, std::uint64_t tag = 0) {
  Loan loan = feed.borrow();
  loan->tag = tag;
  loan->filled = 64;
  feed.submit(std::move(loan));
}

/// A stage that calls `work` on the tile's device.
Stages doing(std::function<void()> work) {
  return on_device([work = std::move(work)](DeviceTile const& tile, StreamRef stream) {
    stream.launch(1, [work](std::uint32_t) { work(); });
    return tile.input.size();
  });
}

TEST_F(SnapshotOfAPipeline, HasNoCountsBetweenRunsAndSaysWhichWasTheLast) {
  Pipeline& pipeline = open();
  Snapshot const before = pipeline.snapshot();
  EXPECT_FALSE(before.running);
  EXPECT_EQ(before.run, 0u);
  EXPECT_TRUE(before.lanes.empty());
  EXPECT_EQ(before.pool.tiles, 8u);
  EXPECT_EQ(before.pool.home, 8u);
  ASSERT_EQ(before.devices.size(), 2u);
  EXPECT_EQ(describe(before), "no run goes on");
  pipeline.start(doing([] {}), [](Completion&) {});
  submit(pipeline.feed());
  Snapshot const within = pipeline.snapshot();
  EXPECT_TRUE(within.running);
  EXPECT_EQ(within.run, 1u);
  EXPECT_EQ(within.submitted, 1u);
  EXPECT_TRUE(pipeline.drain().ok());
  Snapshot const after = pipeline.snapshot();
  EXPECT_FALSE(after.running);
  EXPECT_EQ(after.run, 1u);
  EXPECT_EQ(after.submitted, 0u);
  EXPECT_FALSE(rates(within, after)) << "the run has ended";
}

TEST_F(SnapshotOfAPipeline, SaysWhereTheTilesAreWhileADeviceStandsStill) {
  Pipeline& pipeline = open();
  Gate gate;
  pipeline.start(doing([&] { gate.pass(); }), [](Completion&) {});
  for (int i = 0; i < 8; ++i) submit(pipeline.feed());
  Snapshot seen = pipeline.snapshot();
  while (seen.in_flight() < 4) {  // Two lanes of two slots.
    std::this_thread::yield();
    seen = pipeline.snapshot();
  }
  EXPECT_EQ(seen.submitted, 8u);
  EXPECT_EQ(seen.under_way(), 8u);
  EXPECT_EQ(seen.in_flight(), 4u);
  EXPECT_EQ(sum(seen, [](LaneSnapshot const& lane) { return lane.waiting; }), 4u);
  EXPECT_EQ(seen.pool.lent, 8u);
  EXPECT_EQ(seen.pool.home, 0u);
  EXPECT_EQ(seen.devices[0].in_flight + seen.devices[1].in_flight, 4u);
  EXPECT_THAT(describe(seen), HasSubstr("8 tiles submitted, 0 done, 0 failed, 0 cancelled; 4 on devices; 8 lent"));
  expect_conserved(seen);
  gate.open();
  EXPECT_TRUE(pipeline.drain().ok());
}

TEST_F(SnapshotOfAPipeline, CountsATileBeforeItsSinkIsCalled) {
  Pipeline& pipeline = open();
  std::uint64_t calls = 0;
  pipeline.start(doing([] {}), [&](Completion&) {
    Snapshot const seen = pipeline.snapshot();
    expect_conserved(seen);
    EXPECT_EQ(at_sink(seen), ++calls) << "one consumer";
  });
  for (int i = 0; i < 200; ++i) submit(pipeline.feed());
  EXPECT_TRUE(pipeline.drain().ok());
  EXPECT_EQ(calls, 200u);
}

/// Two threads feed, kernels and the sink throw now and then, and two more threads look all the time.
TEST_F(SnapshotOfAPipeline, IsConservedInEveryLookWhileTilesComeAndFailAndAreCancelled) {
  Pipeline& pipeline = open();
  std::atomic<unsigned> kernels{0};
  std::atomic<bool> watching{true};
  Snapshot last;
  pipeline.start(doing([&] {
                   if (kernels.fetch_add(1) % 7 == 3) throw std::runtime_error("a bad tile");
                 }),
                 [&](Completion const& completion) {
                   if (completion.loan->tag % 11 == 5) throw std::runtime_error("a bad sink");
                 });
  std::vector<std::jthread> watchers;
  for (int i = 0; i < 2; ++i) {
    watchers.emplace_back([&] {
      for (Snapshot before = pipeline.snapshot(); watching.load();) {
        Snapshot const now = pipeline.snapshot();
        expect_conserved(now);
        expect_not_less(before, now);
        auto const between = rates(before, now);
        EXPECT_TRUE(!between || between->done >= 0);
        before = now;
      }
    });
  }
  {
    std::vector<std::jthread> feeders;
    for (int i = 0; i < 2; ++i) {
      feeders.emplace_back([&] {
        Feed const feed = pipeline.feed();
        for (std::uint64_t tag = 0; tag < 3000; ++tag) submit(feed, tag);
      });
    }
  }
  for (int i = 0; i < 8; ++i) {
    auto loan = pipeline.feed().try_borrow();
    if (i == 2) pipeline.stop();
    if (loan) pipeline.feed().submit(std::move(*loan));
  }
  watching.store(false);
  watchers.clear();
  Report const report = pipeline.drain([&] {
    do {
      std::this_thread::yield();
      last = pipeline.snapshot();
    } while (last.under_way() > 0);
  });
  expect_conserved(last);
  EXPECT_EQ(at_sink(last), last.submitted) << "the last of a run that drains";
  EXPECT_EQ(last.done, report.tiles_done);
  EXPECT_EQ(last.failed, report.tiles_failed);
  EXPECT_EQ(last.cancelled, report.tiles_cancelled);
  EXPECT_EQ(last.bytes_up(), report.bytes_in);
  EXPECT_GT(last.failed, 0u);
}

/// The watchdog also wakes a lane whose signal's thread was stopped for long, as on a busy machine: that happens to
/// some runs and not to all.
TEST_F(SnapshotOfAPipeline, SaysHowTilesWereFound) {
  for (SignalKind const signal : {SignalKind::callback, SignalKind::event_poll}) {
    bool const called = signal == SignalKind::callback;
    FoundTiles found{.by_watchdog = 1};
    for (int runs = 0; runs < 10 && found.by_watchdog > 0; ++runs) {
      found = {};
      Report const report =
          open(signal).run(generate<std::byte>(500, [](TilePlace, std::span<std::byte> in) { return in.size(); }),
                           doing([] {}), [](Completion&) {});
      for (LaneSummary const& lane : report.lanes) found += lane.found;
      EXPECT_EQ(found.all(), report.tiles_done);
      EXPECT_EQ(found.by_callback > 0, called);
      EXPECT_TRUE(called || found.by_callback == 0) << "no ticket ever comes";
    }
    EXPECT_EQ(found.by_watchdog, 0u);
  }
}

}  // namespace
}  // namespace penstock
