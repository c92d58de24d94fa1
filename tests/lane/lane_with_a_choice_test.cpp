// SPDX-License-Identifier: Apache-2.0
// Which way a lane's lone batches take in the end.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "lane/lane_contract.hpp"
#include "support/cpu_device_under_test.hpp"
#include <gtest/gtest.h>

#include "penstock/core/pool.hpp"
#include "penstock/cpu/cpu_device.hpp"
#include "penstock/lane/flight.hpp"
#include "penstock/lane/path_chooser.hpp"
#include "penstock/recorder.hpp"

namespace penstock {
namespace {

using std::chrono::nanoseconds;

/// A lane that is awake, and gets its tiles one by one; some of them compute for a while longer.
struct ALaneWithAChoice : LaneContract {
  static constexpr std::uint64_t count = 60;
  static constexpr PathChooser::Clock::time_point since{};  ///< When the lane of a flight begins to watch.

  /// For so long on a CPU: where many want one all takes longer, and what is slow is still slower.
  static void busy() {
    auto const spent = [] {
      timespec time{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    };
    for (auto const start = spent(); spent() - start < std::chrono::milliseconds(5);) {
    }
  }
  static void compute_on(StreamRef stream) {
    stream.launch(1, [](std::uint32_t) { busy(); });
  }
  /// Runs so many tiles.
  void run(Stages const& stage, LaneOptions options = {.spin = std::chrono::seconds(10)},
           std::uint64_t number = count) {
    open_lane(stage, std::move(options));
    for (std::uint64_t i = 0; i < number; ++i) {
      submit(i);
      await_seen(i + 1);
    }
    lane().close();
  }
  /// How many of the tiles have failed.
  std::ptrdiff_t failed() {
    auto const all = seen();
    return std::count_if(all.begin(), all.end(), [](Seen const& tile) { return tile.outcome == Outcome::failed; });
  }
  /// Runs pairs of tiles through a flight, of which the first fails if it is mapped, and `note` tells it of these. How
  /// many have failed.
  template <class Note>
  unsigned failed_of_pairs(Note note) {
    auto const stream = device().make_stream();
    bool mapped = false;
    auto const stages = add_one([&](DeviceTile const& tile, StreamRef) {
      mapped = lies_in_pool(tile.input);
      if (mapped && tile.sequence == 0) throw std::runtime_error("not where it lies");
    });
    auto const stage = stages.make({device(), stream, pool().shape()});
    Flight flight(device(), pool().shape(),
                  {.streams = StreamMode::own, .mapped_bytes = most_mapped_bytes, .tiles = tiles});
    unsigned failed = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::array loans{pool().borrow(), pool().borrow()};
      for (std::size_t place = 0; place < loans.size(); ++place) {
        loans[place]->sequence = place;
        loans[place]->filled = tile_bytes;
      }
      flight.put(loans, *stage);
      flight.watch(since);
      while (!flight.passed(flight.youngest())) std::this_thread::yield();
      if (!flight.retire().ok()) ++failed;
      mapped ? note(flight) : flight.note_through(since + nanoseconds(2));
      EXPECT_TRUE(flight.retire().ok());
    }
    return failed;
  }
  /// How many of the tiles were mapped, if `slow` says of which the stage is slow.
  template <class Slow>
  std::uint64_t mapped_of_all(Slow slow, Recorder* recorder = nullptr) {
    run(add_one([this, slow](DeviceTile const& tile, StreamRef stream) {
          if (slow(lies_in_pool(tile.input))) compute_on(stream);
        }),
        {.flight = {.recorder = recorder}, .spin = std::chrono::seconds(10)});
    expect_all_done(seen(), count);
    return lane().summary().mapped;
  }
};

/// Seen to fail if times are not told.
TEST_P(ALaneWithAChoice, CopiesWhatTakesLongerMapped) {
  EXPECT_EQ(mapped_of_all([](bool mapped) { return mapped; }), PathTimes::warm_up + PathTimes::samples);
}

TEST_P(ALaneWithAChoice, MapsWhatTakesLongerCopied) {
  EXPECT_EQ(mapped_of_all([](bool mapped) { return !mapped; }), count - PathTimes::samples);
}

/// Seen to fail if a failed batch counts as it took.
TEST_P(ALaneWithAChoice, KeepsToNoWayThatFails) {
  run(add_one([this](DeviceTile const& tile, StreamRef stream) {
    if (lies_in_pool(tile.input)) throw std::runtime_error("not where it lies");
    compute_on(stream);
  }));
  EXPECT_EQ(failed(), PathTimes::warm_up + PathTimes::samples);
}

/// Seen to fail if only a tile that fails alone makes a failed batch.
TEST_P(ALaneWithAChoice, KeepsToNoWayThatIsRefused) {
  for (std::uint64_t nth = 1; nth <= count; ++nth) {
    dynamic_cast<cpu::CpuDevice&>(device()).inject(cpu::Fault::refuse_upload, nth);
  }
  run(add_one([this](DeviceTile const& tile, StreamRef stream) {
    if (lies_in_pool(tile.input)) compute_on(stream);
  }));
  EXPECT_EQ(failed(), PathTimes::samples);
}

/// Seen to fail if only those of its tiles are asked that have not retired.
TEST_P(ALaneWithAChoice, KeepsToNoWayThatFailsTheFirstOfABatch) {
  EXPECT_EQ(failed_of_pairs([](Flight& flight) { flight.note_through(since + nanoseconds(1)); }),
            PathTimes::warm_up + PathTimes::samples);
}

/// Seen to fail if such a batch counts as it was seen.
TEST_P(ALaneWithAChoice, KeepsToNoWayThatFailsThoughTheNextCatchesUp) {
  EXPECT_EQ(failed_of_pairs([](Flight& flight) { flight.cut_off(since + nanoseconds(1)); }),
            PathTimes::warm_up + PathTimes::samples);
}

/// Seen to fail if a batch that fails because the device does not say how far it is is told to nobody.
TEST_P(ALaneWithAChoice, KeepsToNoWayByWhichTheDeviceDoesNotAnswer) {
  run(add_one([this](DeviceTile const& tile, StreamRef stream) {
    if (lies_in_pool(tile.input)) {
      dynamic_cast<cpu::CpuDevice&>(device()).inject(cpu::Fault::refuse_query);
    } else {
      compute_on(stream);
    }
  }));
  EXPECT_EQ(failed(), PathTimes::warm_up + PathTimes::samples);
}

/// Of its copied ones each is joined before it is through. Seen to fail if these are told to nobody.
TEST_P(ALaneWithAChoice, LeavesAWayByWhichTheNextAlwaysCatchesUp) {
  Holding held;
  std::atomic<bool> copied = false;
  open_lane(add_one([&](DeviceTile const& tile, StreamRef stream) {
              copied = !lies_in_pool(tile.input);
              bool const alone = tile.sequence % 2 == 0;
              if (alone && copied) held.hold.emplace(kernels().hold(stream));
              held.came.fetch_add(1);
            }),
            {.spin = std::chrono::seconds(10)});
  unsigned copied_alone = 0;
  std::size_t came = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    submit(2 * i);
    held.await_came(++came);
    if (copied) {
      ++copied_alone;
      submit(2 * i + 1);
      held.await_came(++came);
      held.hold->open();
    }
    await_seen(came);
  }
  EXPECT_EQ(copied_alone, PathTimes::samples);
}

/// Seen to fail if a batch counts whose work was captured.
TEST_P(ALaneWithAChoice, CopiesWhatIsSlowOnlyToBeCapturedAndToBeMapped) {
  constexpr unsigned slots = 2 * PathTimes::samples;
  constexpr std::uint64_t all = PathTimes::warm_up + slots + 2 * PathTimes::samples + 8;
  std::optional<StreamRef> compute;  // That of the first, which is mapped. What is captured is in another.
  run(on_device(
          [&](DeviceTile const& tile, StreamRef stream) {
            if (!compute) compute = stream;
            if (lies_in_pool(tile.input)) compute_on(stream);
            // Longer than that.
            for (int i = 0; i < 2 && !(stream == *compute); ++i) busy();
            kernels().add_one(stream, tile.input);
            return tile.input.size();
          },
          {.reads_once = true, .capturable = true}),
      {.flight = {.slots = slots, .graphs = Graphs::always}, .spin = std::chrono::seconds(10)}, all);
  expect_all_done(seen(), all);
  EXPECT_EQ(lane().summary().mapped, PathTimes::warm_up + PathTimes::samples);
}

/// It takes calls to time one, and more of them by one way than by another. Seen to fail if these count.
TEST_P(ALaneWithAChoice, CountsNoneThatIsTimed) {
  Recorder recorder({.capacity = 1 << 14});
  EXPECT_EQ(mapped_of_all([](bool mapped) { return mapped; }, &recorder), count);
}

/// Seen to fail if none counts where there is a recorder, and if all do.
TEST_P(ALaneWithAChoice, CountsThoseThatAreNotTimed) {
  Recorder recorder({.capacity = 1 << 14, .every = 1000});
  constexpr std::uint64_t timed = 16;
  for (std::uint64_t i = 0; i < count; ++i) EXPECT_EQ(recorder.wants(i), i < timed);
  EXPECT_EQ(mapped_of_all([](bool mapped) { return mapped; }, &recorder),
            timed + PathTimes::warm_up + PathTimes::samples);
}

INSTANTIATE_TEST_SUITE_P(Cpu, ALaneWithAChoice,
                         testing::Values(LaneUnderTest{support::cpu_device_under_test(), SignalKind::event_poll,
                                                       StreamMode::own, LaneShape::split, Transport::automatic}),
                         name_of_lane);

/// One that its device calls, and that sleeps if it is not through soon.
struct ALaneThatFallsAsleep : ALaneWithAChoice {};

/// Seen to fail if what was on the device then is told to nobody.
TEST_P(ALaneThatFallsAsleep, TriesOthersThanAWayThatTakesLongerThanItIsAwake) {
  run(add_one([this](DeviceTile const& tile, StreamRef stream) {
        if (lies_in_pool(tile.input)) compute_on(stream);
      }),
      {.spin = std::chrono::milliseconds(1)});
  expect_all_done(seen(), count);
  EXPECT_GE(count - lane().summary().mapped, PathTimes::samples);
}

INSTANTIATE_TEST_SUITE_P(Cpu, ALaneThatFallsAsleep,
                         testing::Values(LaneUnderTest{support::cpu_device_under_test(), SignalKind::callback,
                                                       StreamMode::own, LaneShape::split, Transport::automatic}),
                         name_of_lane);

}  // namespace
}  // namespace penstock
