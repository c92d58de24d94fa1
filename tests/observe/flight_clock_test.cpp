// SPDX-License-Identifier: Apache-2.0
#include "observe/flight_clock.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "models/faults.hpp"

namespace penstock {
namespace {

using Clock = Recorder::Clock;
using std::chrono::milliseconds;

/// Most that clocks of a busy host may be apart.
constexpr std::int64_t apart = 5'000'000;

/// The clock of a flight with three streams on the CPU device, and tiles whose kernels note when they ran. It must
/// leave the device with nothing to do.
struct AFlightsClock : testing::Test {
  explicit AFlightsClock(double drift = 0) : device({.clock_drift = drift}) {}

  std::atomic<bool> held{false};  ///< Kernels compute on until it is false. It outlives the device, which they run on.
  cpu::FaultyCpuDevice device;
  Recorder recorder{{.capacity = 1 << 14}};
  Stream upload = device.make_stream(), compute = device.make_stream(), download = device.make_stream();
  std::unique_ptr<FlightClock> clock;
  std::map<std::uint64_t, Passage> noted;  ///< Passages that the kernels noted; read once the device is idle.

  void open(std::chrono::nanoseconds reach = FlightClock::usual_reach, StepTimerOptions options = {}) {
    options.slots = 2;
    clock = std::make_unique<FlightClock>(device, recorder, options, reach);
  }
  void TearDown() override {
    device.synchronize();
    clock.reset();
    EXPECT_FALSE(device.lost());
  }
  /// Enqueues a tile that computes for so long; `events` are those that order it.
  void put(std::uint64_t tile, FlightEvents& events, milliseconds busy, bool timed = true) {
    std::size_t const slot = tile % 2;
    if (timed) clock->begin(slot, Step::upload, upload);
    upload.record(*events.uploaded);
    compute.wait(*events.uploaded);
    if (timed) clock->begin(slot, Step::stage, compute);
    compute_for(tile, busy);
    compute.record(*events.computed);
    download.wait(*events.computed);
    if (timed) clock->begin(slot, Step::download, download);
    download.record(events.landed);
  }
  /// Puts one that is mapped.
  void put_mapped(std::uint64_t tile, milliseconds busy) {
    FlightEvents& events = clock->open(tile % 2, tile, tile, TransferPath::mapped);
    clock->begin(tile % 2, Step::stage, compute);
    compute_for(tile, busy);
    compute.record(events.landed);
  }
  void put(std::uint64_t tile, milliseconds busy) {
    put(tile, clock->open(tile % 2, tile, tile, TransferPath::copied), busy);
  }
  void note(std::uint64_t tile) {
    device.synchronize();
    clock->note(tile % 2, std::array{std::optional(tile)});
  }
  void compute_for(std::uint64_t tile, milliseconds busy) {
    Passage& its = noted[tile];
    compute.launch(1, [this, &its, busy](std::uint32_t) {
      auto const start = Clock::now();
      while (held.load() || Clock::now() - start < busy) {
      }
      its.begin = recorder.since_start(start);
      its.end = recorder.since_start(Clock::now());
    });
  }
  /// The stages of all tiles that were noted.
  std::map<std::uint64_t, Passage> stages() {
    std::map<std::uint64_t, Passage> found;
    for (Passage const& passage : recorder.take().passages) {
      EXPECT_LE(passage.begin, passage.end);
      if (passage.step == Step::stage) found[passage.tile] = passage;
    }
    return found;
  }
  /// Tile 1, which `put_first` puts, computes until all of tile 2 was asked for.
  template <class Put>
  void expect_the_next_to_begin_at_the_end_of(Put put_first) {
    open();
    held = true;
    put_first();
    put(2, milliseconds(1));
    held = false;
    note(1);
    note(2);
    auto const seen = stages();
    EXPECT_EQ(seen.at(2).begin, seen.at(1).end);
    EXPECT_GE(seen.at(2).end - seen.at(2).begin, 1'000'000 - 10'000);
  }
};

/// Seen to fail if only the anchor moves, or only the moment that it stands for.
TEST_F(AFlightsClock, StaysWithTheHostsWhileItsAnchorMoves) {
  open(std::chrono::nanoseconds(0));
  constexpr std::uint64_t tiles = 40;
  std::map<std::uint64_t, std::int64_t> known;
  for (std::uint64_t tile = 1; tile <= tiles; ++tile) {
    put(tile, milliseconds(1));
    note(tile);
    known[tile] = recorder.since_start(Clock::now());
  }
  auto const seen = stages();
  ASSERT_EQ(seen.size(), tiles);
  for (auto const& [tile, stage] : seen) {
    EXPECT_LE(stage.begin, noted[tile].begin + apart) << tile;
    EXPECT_GE(stage.end, noted[tile].end - apart) << tile;
    EXPECT_LE(stage.end, known[tile] + apart) << tile;
  }
}

TEST_F(AFlightsClock, LetsATileBeginWhereTheOneBeforeItEnds) {
  expect_the_next_to_begin_at_the_end_of([&] { put(1, milliseconds(1)); });
}

/// Seen to fail without marks for tiles that are not behind another that is timed.
TEST_F(AFlightsClock, LetsATileBeginWhereItsStreamIsThroughWithOnesThatAreNotTimed) {
  open();
  FlightEvents untimed(device, true, 0);
  put(1, untimed, milliseconds(20), false);
  put(2, milliseconds(1));
  note(2);
  auto const seen = stages();
  EXPECT_GE(seen.at(2).begin, noted[1].end - apart);
}

/// A device whose clock parts from the host's as far in a second as that of a GPU in half an hour.
struct ADriftingClock : AFlightsClock, testing::WithParamInterface<double> {
  ADriftingClock() : AFlightsClock(GetParam()) {}
};

/// Seen to fail if the clocks are compared once only; or, where the device's is the faster one, if what is known of the
/// end before does not count.
TEST_P(ADriftingClock, StaysWithTheHostsAndLetsNoStepGoBackInTime) {
  open(milliseconds(10));
  constexpr std::uint64_t tiles = 300;
  std::map<std::uint64_t, std::pair<std::int64_t, std::int64_t>> known;  // Times between which a tile was under way.
  for (std::uint64_t tile = 1; tile <= tiles; ++tile) {
    known[tile].first = recorder.since_start(Clock::now());
    put(tile, milliseconds(1));
    note(tile);
    known[tile].second = recorder.since_start(Clock::now());
  }
  std::map<Step, std::map<std::uint64_t, Passage>> seen;
  for (Passage const& passage : recorder.take().passages) seen[passage.step][passage.tile] = passage;
  ASSERT_EQ(seen[Step::stage].size(), tiles);
  for (auto const& [tile, stage] : seen[Step::stage]) {
    auto const [from, to] = known[tile];
    std::int64_t const slack = apart + (to - from) / 10;
    // A step may be said to begin late only where the one before it is said to have ended late.
    std::int64_t const before = tile == 1 ? 0 : seen[Step::stage][tile - 1].end;
    EXPECT_LE(stage.begin, std::max(noted[tile].begin + slack, before)) << tile;
    EXPECT_GE(stage.end, noted[tile].end - slack) << tile;
    EXPECT_LE(stage.end, std::max(to + slack, before)) << tile;
  }
  for (Step const step : {Step::upload, Step::stage, Step::download}) {
    for (std::uint64_t tile = 2; tile <= tiles; ++tile) {
      EXPECT_GE(seen[step][tile].begin, seen[step][tile - 1].end) << step_name(step) << " of " << tile;
      EXPECT_GE(seen[step][tile].end, seen[step][tile].begin) << step_name(step) << " of " << tile;
    }
  }
}

/// Seen to fail if no tile moves the clocks together.
TEST_P(ADriftingClock, SaysOfNoTileThatItWasThroughBeforeItWasAskedForOrAfterItWasSeen) {
  open();
  constexpr std::uint64_t tiles = 100;
  std::map<std::uint64_t, std::int64_t> known;
  for (std::uint64_t tile = 1; tile <= tiles; ++tile) {
    put(tile, milliseconds(1));
    note(tile);
    known[tile] = recorder.since_start(Clock::now());
  }
  std::map<std::uint64_t, Passage> ends;
  for (Passage const& passage : recorder.take().passages) {
    if (passage.step == Step::download) ends[passage.tile] = passage;
  }
  ASSERT_EQ(ends.size(), tiles);
  for (auto const& [tile, passage] : ends) {
    EXPECT_GE(passage.end, noted[tile].begin - apart) << tile;
    EXPECT_LE(passage.end, known[tile]) << tile;
  }
}

INSTANTIATE_TEST_SUITE_P(EitherWay, ADriftingClock, testing::Values(0.1, -0.1),
                         [](auto const& which) { return which.param > 0 ? "TheDevicesIsFaster" : "TheHostsIsFaster"; });

/// Marks that tile 2 takes, behind tile 1, which is timed: so many calls can be refused before it is whole.
struct MarksOfAClock : AFlightsClock, testing::WithParamInterface<std::tuple<bool, bool, int>> {};

TEST_P(MarksOfAClock, AreNoMoreThanItNeeds) {
  auto const [split, shared, marks] = GetParam();
  open(std::chrono::hours(1), {.split = split, .shared = shared});
  device.inject(cpu::Fault::refuse_record, static_cast<std::uint64_t>(marks) + 1);
  clock->open(1, 1, 1, TransferPath::copied);
  clock->open(0, 2, 2, TransferPath::copied);
  for (Step const step : {Step::upload, Step::stage, Step::download}) clock->begin(0, step, compute);
  EXPECT_EQ(device.armed_faults(), 1u) << "one mark more was made";
  Event const any = device.make_event();
  EXPECT_THROW(compute.record(any), Error) << "one mark less was made";
}

INSTANTIATE_TEST_SUITE_P(OfEachShape, MarksOfAClock,
                         testing::Values(std::tuple(true, false, 0), std::tuple(true, true, 1),
                                         std::tuple(false, false, 2), std::tuple(false, true, 3)));

TEST_F(AFlightsClock, NotesOfAMappedTileItsStageAlone) {
  open();
  put_mapped(1, milliseconds(2));
  note(1);
  put_mapped(2, milliseconds(2));
  note(2);
  std::map<std::uint64_t, Passage> seen;
  for (Passage const& passage : recorder.take().passages) {
    EXPECT_TRUE(passage.step == Step::stage || passage.step == Step::notice) << step_name(passage.step);
    if (passage.step == Step::stage) seen[passage.tile] = passage;
  }
  ASSERT_EQ(seen.size(), 2u);
  for (auto const& [tile, stage] : seen) {
    EXPECT_LE(stage.begin, noted[tile].begin + apart) << tile;
    EXPECT_GE(stage.end, noted[tile].end - apart) << tile;
    EXPECT_GE(stage.end - stage.begin, 2'000'000 - 10'000) << tile;
  }
}

/// Seen to fail if the end of the mapped one is not kept.
TEST_F(AFlightsClock, LetsTheStageOfACopiedTileBeginWhereThatOfAMappedOneEnds) {
  expect_the_next_to_begin_at_the_end_of([&] { put_mapped(1, milliseconds(1)); });
}

TEST_F(AFlightsClock, DoesNotNoteATileOfWhichAMarkWasRefused) {
  open(std::chrono::hours(1));  // Otherwise a test that is held up records once more, and that is refused.
  FlightEvents& events = clock->open(1, 1, 1, TransferPath::copied);
  device.inject(cpu::Fault::refuse_record);
  put(1, events, milliseconds(1));
  put(2, milliseconds(1));
  note(1);
  note(2);
  auto const seen = stages();
  EXPECT_EQ(seen.size(), 1u);
  EXPECT_GE(seen.at(2).begin, noted[1].end - apart) << "what is behind it knows of it all the same";
}

}  // namespace
}  // namespace penstock
