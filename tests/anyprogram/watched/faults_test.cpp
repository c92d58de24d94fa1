// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/faults.hpp"

#include <gtest/gtest.h>

#include "anyprogram/watched/log_builder.hpp"

namespace penstock::cli {
namespace {

constexpr std::uint8_t up = 1, down = 2;
constexpr unsigned pageable = 1, pinned = 2, device = 3;
constexpr std::uint64_t legacy = LogBuilder::legacy;
constexpr std::uint64_t handles[] = {0x100, 0x200};

/// A device that does what it is asked for as streams have it: a work begins once it was asked for, its stream is free,
/// its engine is free, and the legacy stream lets it. Microseconds.
struct Machine {
  LogBuilder program;
  std::uint64_t streams[3] = {}, engines[3] = {};  // When they are free; the legacy stream is the last.
  std::uint64_t now = 10;

  std::uint64_t work(WatchKind kind, std::uint64_t stream, std::uint64_t length, std::uint8_t way = 0,
                     unsigned from = 0, unsigned to = 0) {
    std::size_t const number = stream == legacy ? 2 : stream == handles[0] ? 0 : 1;
    std::size_t const engine = kind == WatchKind::kernel ? 0 : way;
    std::uint64_t begin = std::max({now, streams[number], engines[engine], streams[2]});
    if (stream == legacy) begin = std::max({begin, streams[0], streams[1]});
    streams[number] = engines[engine] = begin + length;
    program.call(kind == WatchKind::kernel ? WatchCall::launch : WatchCall::copy, stream, 0x1000, 4096);
    program.did(kind, begin * 1000, (begin + length) * 1000, way, from, to, 20 + number);
    return begin + length;
  }
  /// The call before took until then.
  void until(std::uint64_t moment) {
    program.until(moment * 1000);
    now = std::max(now, moment);
  }
  void wait(std::uint64_t stream, std::uint64_t moment) {
    program.call(WatchCall::stream_sync, stream);
    until(std::max(moment, now + 1));
  }
  Findings findings() {
    log = program.log();
    model.emplace(log);
    return find_faults(*model);
  }
  WatchLog log;
  std::optional<WatchModel> model;
};

void tile(Machine& machine, std::uint64_t stream, unsigned host = pinned) {
  machine.work(WatchKind::copy, stream, 50, up, host, device);
  machine.work(WatchKind::kernel, stream, 50);
  machine.work(WatchKind::copy, stream, 50, down, device, host);
}

TEST(Faults, OfAProgramWithOneStreamAreThatFirst) {
  Machine machine;
  for (int i = 0; i < 10; ++i) {
    tile(machine, legacy);
    machine.wait(legacy, machine.streams[2]);
  }
  Findings const found = machine.findings();
  ASSERT_FALSE(found.faults.empty());
  EXPECT_EQ(found.faults[0].kind, FaultKind::one_stream);
  EXPECT_EQ(found.faults[0].count, 30u);
}

TEST(Faults, OfPageableCopiesThatWaitAreThatFirst) {
  Machine machine;
  machine.program.stream(handles[0], false).stream(handles[1], false);
  for (int i = 0; i < 10; ++i) {
    std::uint64_t const stream = handles[i % 2];
    machine.until(machine.work(WatchKind::copy, stream, 50, up, pageable, device));
    machine.work(WatchKind::kernel, stream, 50);
    machine.until(machine.work(WatchKind::copy, stream, 50, down, device, pageable));
  }
  Findings const found = machine.findings();
  ASSERT_FALSE(found.faults.empty());
  EXPECT_EQ(found.faults[0].kind, FaultKind::pageable);
  EXPECT_EQ(found.faults[0].count, 20u);
  ASSERT_FALSE(found.faults[0].worst.empty());
  EXPECT_EQ(found.faults[0].worst[0].thread, 1u);
}

TEST(Faults, AreCountedThoughTheyCostTooLittleToBeListed) {
  Machine machine;
  machine.program.stream(handles[0], false).stream(handles[1], false);
  for (int i = 0; i < 3; ++i) machine.until(machine.work(WatchKind::copy, handles[0], 1, up, pageable, device));
  for (int i = 0; i < 100; ++i) {
    machine.work(WatchKind::copy, handles[0], 50, up, pinned, device);
    machine.work(WatchKind::kernel, handles[1], 50);
  }
  Findings const found = machine.findings();
  EXPECT_TRUE(found.faults.empty());
  EXPECT_EQ(found.counts.at(FaultKind::pageable), 3u);
  EXPECT_EQ(found.counts.at(FaultKind::legacy), 0u);
}

TEST(Faults, OfAStrayLaunchInTheDefaultStreamAreThatFirst) {
  Machine machine;
  machine.program.stream(handles[0]).stream(handles[1]);
  for (int i = 0; i < 10; ++i) {
    tile(machine, handles[i % 2]);
    machine.work(WatchKind::kernel, legacy, 1);
  }
  machine.wait(handles[1], machine.streams[2]);
  Findings const found = machine.findings();
  ASSERT_FALSE(found.faults.empty());
  EXPECT_EQ(found.faults[0].kind, FaultKind::legacy);
  EXPECT_EQ(found.faults[0].count, 10u);
  EXPECT_EQ(found.faults[0].worst[0].stream, "the legacy default stream");
}

TEST(Faults, OfAHostThatWaitsForEachTileAreThatFirst) {
  Machine machine;
  machine.program.stream(handles[0], false).stream(handles[1], false);
  for (int i = 0; i < 10; ++i) {
    tile(machine, handles[i % 2]);
    machine.wait(handles[i % 2], machine.streams[i % 2]);
  }
  Findings const found = machine.findings();
  ASSERT_FALSE(found.faults.empty());
  EXPECT_EQ(found.faults[0].kind, FaultKind::host_blocks);
  EXPECT_EQ(found.faults[0].count, 10u);
}

TEST(Faults, OfAProgramThatOverlapsAreNone) {
  Machine machine;
  machine.program.stream(handles[0], false).stream(handles[1], false);
  for (int i = 0; i < 100; ++i) {
    // The engines are kept busy by two streams with half of the kernels and copies each.
    machine.work(WatchKind::copy, handles[0], 50, up, pinned, device);
    machine.work(WatchKind::kernel, handles[1], 50);
  }
  machine.wait(handles[0], machine.streams[0]);
  machine.wait(handles[1], machine.streams[1]);
  EXPECT_TRUE(machine.findings().faults.empty());
}

TEST(Faults, OfAHostThatComesLateAreItsGaps) {
  Machine machine;
  machine.program.stream(handles[0], false).stream(handles[1], false);
  for (std::uint64_t i = 0; i < 10; ++i) {
    machine.until(100 + 200 * i);
    machine.work(WatchKind::copy, handles[0], 50, up, pinned, device);
    machine.work(WatchKind::kernel, handles[1], 50);
  }
  Findings const found = machine.findings();
  ASSERT_FALSE(found.faults.empty());
  EXPECT_EQ(found.faults[0].kind, FaultKind::host_late);
  // 150 between each two, but the first has its beginning at 10.
  EXPECT_GE(found.faults[0].cost, 9 * 100'000);
  EXPECT_TRUE(found.no_help[2].holds) << found.no_help[2].sentence;
}

TEST(Faults, AllFiveReasonsAreThere) {
  Machine machine;
  machine.work(WatchKind::copy, legacy, 100, up, pinned, device);
  Findings const found = machine.findings();
  ASSERT_EQ(found.no_help.size(), 5u);
  EXPECT_EQ(found.no_help[1].reason, "link");
  EXPECT_TRUE(found.no_help[1].holds);
  EXPECT_FALSE(found.no_help[0].holds);
}

}  // namespace
}  // namespace penstock::cli
