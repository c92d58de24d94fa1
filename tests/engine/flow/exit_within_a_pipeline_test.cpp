// SPDX-License-Identifier: Apache-2.0
// A thread leaves the process, by std::exit, from each place where a pipeline calls its user. The pipeline is static
// and dies on that thread, and the device behind it.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "support/left_alive.hpp"
#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

constexpr int asked_for = 7;
constexpr int lanes_were_left = 3;
constexpr int returned = 1;

enum class Place : std::uint8_t { next, fill, host_stage, make, run, kernel, finish, merge, sink, hand_in_rest };

struct Way {
  Place place;
  int lanes_that_end;  ///< Lanes, of two, that end before the process does; below 0 if that depends on where they are.
  bool sink_on_lanes = false;
  bool pushed = false;         ///< The application feeds it.
  int on_call = 3;             ///< Number of the call that leaves, of all that are made in that place.
  bool to_completion = false;  ///< Lanes bring tiles themselves.
};

/// State of the functions of the one pipeline.
struct Here {
  static inline Way way{};
  static inline std::atomic<int> calls{0};
  static inline std::atomic<int> lanes_ended{0};

  static void come_to(Place place) {
    if (place == way.place && ++calls == way.on_call) std::exit(asked_for);
  }
};

/// Dies behind the pipeline, and before the device.
struct Witness {
  Witness() = default;
  Witness(Witness const&) = delete;
  Witness& operator=(Witness const&) = delete;
  ~Witness() {
    int const expected = Here::way.lanes_that_end;
    if (expected >= 0 && Here::lanes_ended != expected) std::_Exit(lanes_were_left);
  }
};

class Input final : public Source {
 public:
  bool next(Tile& tile) override {
    Here::come_to(Place::next);
    return tile.sequence < 20;
  }
  std::size_t fill(Tile&) override {
    Here::come_to(Place::fill);
    return 64;
  }
};

class Work final : public Stage {
 public:
  std::size_t run(DeviceTile const&, StreamRef stream) override {
    Here::come_to(Place::run);
    stream.launch(1, [](std::uint32_t) { Here::come_to(Place::kernel); });
    return 0;
  }
  void finish(StreamRef stream) override {
    Here::come_to(Place::finish);
    stream.launch(1, [](std::uint32_t) { ++Here::lanes_ended; });
  }
};

Stages work() {
  return {.make =
              [](StageContext const&) {
                Here::come_to(Place::make);
                return std::make_unique<Work>();
              },
          .merge = [](Stage&) { Here::come_to(Place::merge); }};
}

PipelineOptions two_lanes(Way const& way) {
  if (way.to_completion) {
    return {.tile = {.input_bytes = 64},
            .lanes = 2,
            .tuning = {.tiles = 4, .sink_on_lanes = way.sink_on_lanes, .run_to_completion = true}};
  }
  return {.tile = {.input_bytes = 64},
          .producers = 2,
          .lanes = 2,
          .consumers = 2,
          .host_stages = {{.name = "any", .body = [](Tile&) { Here::come_to(Place::host_stage); }, .at_once = 1}},
          .tuning = {.tiles = 4, .sink_on_lanes = way.sink_on_lanes}};
}

[[noreturn]] void exit_within(Way way) {
  alarm(300);
  support::ends_with_live_threads = way.place == Place::kernel;
  Here::way = way;
  static cpu::CpuDevice device({.compute_threads = 1});
  static Witness const witness;
  static Pipeline pipeline(device, two_lanes(way));
  auto const sink = [](Completion&) { Here::come_to(Place::sink); };
  if (way.pushed) {
    pipeline.start(work(), sink);
    try {
      for (int i = 0; i < 6; ++i) pipeline.feed().submit(pipeline.feed().borrow());
    } catch (Error const&) {
      for (;;) pause();  // Another thread is leaving.
    }
    static_cast<void>(pipeline.drain([] { Here::come_to(Place::hand_in_rest); }));
  } else {
    Input input;
    static_cast<void>(pipeline.run(input, work(), sink));
  }
  std::_Exit(returned);
}

/// A pipeline whose source is a run of another; the sink of that one leaves.
[[noreturn]] void exit_within_a_run_within_a_run() {
  alarm(300);
  static cpu::CpuDevice device({.compute_threads = 1});
  static Pipeline outer(device, {.tile = {.input_bytes = 64}, .lanes = 1, .tuning = {.tiles = 4}});
  static Pipeline inner(device, {.tile = {.input_bytes = 64}, .lanes = 1, .tuning = {.tiles = 4}});
  auto const nothing = on_device([](DeviceTile const&, StreamRef) { return std::size_t{0}; });
  auto run_the_other = serial([&](Tile&) -> std::optional<std::size_t> {
    static_cast<void>(inner.run(serial([](Tile&) { return std::optional<std::size_t>(1); }), nothing,
                                [](Completion&) { std::exit(asked_for); }));
    return std::nullopt;
  });
  static_cast<void>(outer.run(run_the_other, nothing, [](Completion&) {}));
  std::_Exit(returned);
}

struct AnExitWithinAPipeline : testing::Test {
  AnExitWithinAPipeline() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  static void ends_the_process(Way way) {
    EXPECT_EXIT(exit_within(way), testing::ExitedWithCode(asked_for), "destroyed by its own sink, stage or source")
        << "place " << static_cast<int>(way.place);
  }
};

TEST_F(AnExitWithinAPipeline, EndsTheProcessFromItsSource) {
  ends_the_process({Place::next, 2});
  ends_the_process({Place::fill, 2});
}

TEST_F(AnExitWithinAPipeline, EndsTheProcessFromAHostStageAndASink) {
  ends_the_process({Place::host_stage, 2});
  ends_the_process({Place::sink, 2});
  ends_the_process({Place::host_stage, 2, false, true});
  ends_the_process({Place::sink, 2, false, true});
}

/// Two lanes in one, of which the other ends first: behind the pipeline the device dies.
TEST_F(AnExitWithinAPipeline, EndsTheOtherLaneAndTheProcessFromALane) {
  ends_the_process({Place::run, 1});
  ends_the_process({Place::run, 1, true});
  ends_the_process({Place::sink, 1, true});
  ends_the_process({Place::sink, 1, true, true});
  ends_the_process({.place = Place::finish, .lanes_that_end = 1, .on_call = 1});
}

/// The kernel does not end, so the lanes give their device up. Seen to hang if they wait for it, and if the device
/// waits for the thread on which it dies.
TEST_F(AnExitWithinAPipeline, EndsTheProcessFromAKernel) {
  ends_the_process({.place = Place::kernel, .lanes_that_end = 0});
  ends_the_process({.place = Place::kernel, .lanes_that_end = 0, .sink_on_lanes = true});
  ends_the_process({.place = Place::kernel, .lanes_that_end = 0, .pushed = true});
  ends_the_process({.place = Place::kernel, .lanes_that_end = -1, .to_completion = true});
}

TEST_F(AnExitWithinAPipeline, EndsTheProcessWhileLanesAreMade) {
  ends_the_process({.place = Place::make, .lanes_that_end = 0, .on_call = 1});
  ends_the_process({.place = Place::make, .lanes_that_end = 0, .pushed = true, .on_call = 2});
}

/// The other lane may wait for its turn in the source, which never comes then.
TEST_F(AnExitWithinAPipeline, EndsTheProcessFromLanesThatBringTheirTiles) {
  for (Place const place : {Place::next, Place::fill, Place::run, Place::sink}) {
    for (bool const sink_on_lanes : {false, true}) {
      ends_the_process({.place = place, .lanes_that_end = -1, .sink_on_lanes = sink_on_lanes, .to_completion = true});
    }
  }
}

TEST_F(AnExitWithinAPipeline, EndsTheProcessFromAMergeAndWhereTheRestIsHandedIn) {
  ends_the_process({.place = Place::merge, .lanes_that_end = 2, .on_call = 1});
  ends_the_process({.place = Place::merge, .lanes_that_end = 2, .pushed = true, .on_call = 2});
  ends_the_process({.place = Place::hand_in_rest, .lanes_that_end = 2, .pushed = true, .on_call = 1});
}

TEST_F(AnExitWithinAPipeline, EndsTheProcessFromARunWithinARun) {
  EXPECT_EXIT(exit_within_a_run_within_a_run(), testing::ExitedWithCode(asked_for), "destroyed by its own sink");
}

}  // namespace
}  // namespace penstock
