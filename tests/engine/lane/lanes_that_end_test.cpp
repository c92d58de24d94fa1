// SPDX-License-Identifier: Apache-2.0
// Tests what is only seen at the end of lanes, on devices that are lost or do not finish.
#include <array>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/gate.hpp"
#include "support/kernels.hpp"
#include "support/thread_state.hpp"
#include <gmock/gmock.h>
#include <unistd.h>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "engine/lane/lane_set.hpp"
#include "models/faults.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

/// A CPU device, two tiles, and what happens with them. All tiles come home.
struct LanesThatEnd : testing::Test {
  static constexpr TileShape shape{.input_bytes = 256, .output_bytes = 256, .in_place = true};
  alignas(256) std::array<std::byte, 2 * 256> slab{};
  Pool pool{slab, shape, 2};
  support::Gate gate;  ///< Holds a kernel that does not end before the test does.
  support::Gate other_finished;
  std::atomic<int> stages_ended{0};
  cpu::FaultyCpuDevice device{{.compute_threads = 2}};
  std::atomic<int> completed{0};

  Lane::OnCompletion count() {
    return [this](Completion) { ++completed; };
  }
  Stages stuck_at_the_finish();
  void TearDown() override {
    EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home";
    gate.open();
  }
};

TEST_F(LanesThatEnd, DoSoThoughTheDeviceWasLostBeforeTheyUsedIt) {
  device.inject(cpu::Fault::break_kernel);
  LaneOptions const single{.flight = {.shape = LaneShape::single}};
  LaneSet lanes({{&device, {}}, {&device, {}}}, shape, 2, single, on_device([](DeviceTile const&, StreamRef stream) {
                  stream.launch(1, [](std::uint32_t) {});
                  return std::size_t{0};
                }),
                count());
  Loan loan = pool.borrow();
  ASSERT_TRUE(lanes.submit(loan));
  while (completed != 1) std::this_thread::yield();
  ASSERT_TRUE(device.lost());
  lanes.close();  // The other lane meets its stream now for the first time.
  EXPECT_EQ(completed, 1);
}

/// The stage of lane 0 launches at its finish what does not end, once lane 1 has nothing more to wait for.
class Finishing final : public Stage {
 public:
  Finishing(LanesThatEnd& world, unsigned lane) : test_(world), number_(lane) {}
  ~Finishing() override { ++test_.stages_ended; }
  std::size_t run(DeviceTile const&, StreamRef) override { return 0; }
  void finish(StreamRef stream) override {
    if (number_ == 1) {
      // After its finish a lane makes two records: one to wait for that, and one to wait for its streams. The second is
      // refused, which does no harm there, and shows that the lane has come so far.
      test_.device.inject(cpu::Fault::refuse_record, 2);
      return test_.other_finished.open();
    }
    test_.other_finished.pass();
    while (test_.device.armed_faults() != 0) std::this_thread::yield();
    stream.launch(1, [this](std::uint32_t) { test_.gate.pass(); });
  }
  unsigned number() const noexcept { return number_; }

 private:
  LanesThatEnd& test_;
  unsigned const number_;
};

Stages LanesThatEnd::stuck_at_the_finish() {
  return {.make = [this](StageContext const& at) { return std::make_unique<Finishing>(*this, at.lane); }, .merge = {}};
}

TEST_F(LanesThatEnd, FreeNothingBeforeEachOfThemHasSettled) {
  LaneOptions const impatient{.flight = {.patience = std::chrono::milliseconds(200)}};
  LaneSet lanes({{&device, {}}, {&device, {}}}, shape, 2, impatient, stuck_at_the_finish(), count());
  auto const before = device.outstanding().allocations;
  lanes.close();
  EXPECT_TRUE(device.abandoned());
  EXPECT_EQ(device.outstanding().allocations, before) << "one was freed while another's kernel ran";
  auto const failures = lanes.merge({});
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0]->stage, "finish");
}

TEST_F(LanesThatEnd, KeepTheResultOfOneThatFinishedThoughAnotherNeverDoes) {
  std::vector<unsigned> merged;
  {
    LaneOptions const impatient{.flight = {.patience = std::chrono::milliseconds(200)}};
    LaneSet lanes({{&device, {}}, {&device, {}}}, shape, 2, impatient, stuck_at_the_finish(), count());
    lanes.close();
    ASSERT_TRUE(device.abandoned());
    auto const failures = lanes.merge(
        {.make = {}, .merge = [&](Stage& stage) { merged.push_back(dynamic_cast<Finishing&>(stage).number()); }});
    EXPECT_EQ(failures.size(), 1u);
  }
  EXPECT_EQ(merged, std::vector<unsigned>{1});
  EXPECT_EQ(stages_ended, 0) << "its end may wait for the device, so it is left to it";
}

TEST_F(LanesThatEnd, LeaveBehindWhatAPreparationLaunchedThatDoesNotEnd) {
  struct Unprepared final : Stage {
    explicit Unprepared(support::Gate& at) : gate(at) {}
    void prepare(StreamRef stream) override {
      stream.launch(1, [this](std::uint32_t) {
        gate.pass();
        ended = true;
      });
      throw std::runtime_error("not like this");
    }
    std::size_t run(DeviceTile const&, StreamRef) override { return 0; }
    support::Gate& gate;
    bool ended = false;  ///< The kernel writes it, so the stage must be there.
  };
  LaneOptions const impatient{.flight = {.streams = StreamMode::own, .patience = std::chrono::milliseconds(200)}};
  EXPECT_THROW(
      Lane(device, shape, 2, impatient, 0,
           {.make = [this](StageContext const&) { return std::make_unique<Unprepared>(gate); }, .merge = {}}, count()),
      std::runtime_error);
  EXPECT_TRUE(device.abandoned());
}

TEST_F(LanesThatEnd, DoNotTakeTheTimeOfAStageForThatOfTheDevice) {
  support::Gate thinking;
  std::atomic<pid_t> thread{0};
  LaneOptions const impatient{.flight = {.patience = std::chrono::seconds(2)},
                              .watchdog = std::chrono::milliseconds(1)};
  Lane lane(device, shape, 2, impatient, 0, on_device([&](DeviceTile const&, StreamRef) {
              thread = gettid();
              thinking.pass();
              return std::size_t{0};
            }),
            count());
  Loan loan = pool.borrow();
  ASSERT_TRUE(lane.submit(loan));
  thinking.await_reached();
  auto const start = std::chrono::steady_clock::now();
  // Longer than it is patient; nothing else tells that a time has passed.
  while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(2100)) std::this_thread::yield();
  thinking.open();
  lane.close();
  EXPECT_FALSE(device.abandoned());
  EXPECT_EQ(completed, 1);
}

TEST_F(LanesThatEnd, StrandATileWhoseEndCouldNotBeMarkedIfItsKernelDoesNotEnd) {
  // The signal asks nothing of the device when a tile is put, and so does not learn of the refusal.
  LaneOptions const impatient{.flight = {.shape = LaneShape::single, .patience = std::chrono::milliseconds(200)},
                              .signal = SignalKind::event_poll};
  Lane lane(device, shape, 2, impatient, 0, on_device([this](DeviceTile const&, StreamRef stream) {
              stream.launch(1, [this](std::uint32_t) { gate.pass(); });
              return std::size_t{0};
            }),
            count());
  device.inject(cpu::Fault::refuse_record);
  Loan loan = pool.borrow();
  ASSERT_TRUE(lane.submit(loan));
  lane.close();
  EXPECT_EQ(completed, 1);
  EXPECT_TRUE(device.abandoned());
  EXPECT_EQ(pool.stranded(), 1u);
}

TEST_F(LanesThatEnd, SayWhereTheOldestTileStandsWhereverTheyRunOutOfPatience) {
  std::vector<Failure> failures;
  std::atomic<bool> lost{false};
  std::optional<Lane> lane;
  // The signal asks at once. The answer is refused, so the lane waits for all that is in flight.
  LaneOptions const impatient{.flight = {.patience = std::chrono::milliseconds(200)}, .signal = SignalKind::event_poll};
  lane.emplace(device, shape, 2, impatient, 0, on_device([this](DeviceTile const&, StreamRef stream) {
                 stream.launch(1, [this](std::uint32_t) { gate.pass(); });
                 gate.await_reached();  // Then its upload is over, however long that took.
                 return std::size_t{0};
               }),
               [&](Completion completion) {
                 failures.push_back(*completion.failure);
                 lost = lane->lost();
                 ++completed;
               });
  device.inject(cpu::Fault::refuse_query);
  Loan loan = pool.borrow();
  ASSERT_TRUE(lane->submit(loan));
  while (completed != 1) std::this_thread::yield();
  EXPECT_TRUE(lost) << "who is told of the tile asks whether a lane is left";
  loan = pool.borrow();
  ASSERT_TRUE(lane->submit(loan));
  lane->close();
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_EQ(failures[0].stage, "stage");
  EXPECT_THAT(failures[0].reason, HasSubstr("finished none of a lane's tiles for 200 ms"));
  EXPECT_THAT(failures[0].reason, HasSubstr("This is the oldest tile it had."));
  EXPECT_EQ(failures[1].stage, "device");
  EXPECT_EQ(pool.stranded(), 1u);
  lane.reset();
}

TEST_F(LanesThatEnd, AreNotStartedWithoutPatience) {
  LaneOptions const none{.flight = {.patience = std::chrono::nanoseconds(0)}};
  EXPECT_THROW(
      Lane(device, shape, 2, none, 0, on_device([](DeviceTile const&, StreamRef) { return std::size_t{0}; }), count()),
      Error);
  EXPECT_FALSE(device.abandoned());
}

/// Two lanes that bring their tiles. Lane 1 stands in the source for ever; lane 0 comes once it does, and ends the
/// process.
class LeavesFromTheSource final : public TileBringer {
 public:
  static constexpr int asked_for = 7;

  bool ready() const noexcept override { return set.load(); }
  bool bring(unsigned lane) noexcept override {
    if (lane == 1) never.pass();
    never.await_reached();
    lanes->end_but_for_this_thread();
    std::_Exit(asked_for);
  }
  void leave() noexcept override {}

  LaneSet* lanes = nullptr;
  std::atomic<bool> set{false};  ///< `lanes` is.
  support::Gate never;
};

[[noreturn]] void leave_while_another_lane_stands_in_the_source() {
  alarm(300);
  cpu::FaultyCpuDevice device({.compute_threads = 1});
  LeavesFromTheSource source;
  LaneOptions options;
  options.bringer = &source;
  LaneSet lanes({{&device, {}}, {&device, {}}}, LanesThatEnd::shape, 2, options,
                on_device([](DeviceTile const&, StreamRef) { return std::size_t{0}; }), [](Completion) {});
  source.lanes = &lanes;
  source.set = true;
  lanes.wake();
  for (;;) pause();
}

/// Seen to wait for ever if the other lane is not left behind.
TEST_F(LanesThatEnd, AreNotAwaitedWhereOneStandsInTheSourceAndAnotherEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(leave_while_another_lane_stands_in_the_source(), testing::ExitedWithCode(LeavesFromTheSource::asked_for),
              "");
}

}  // namespace
}  // namespace penstock
