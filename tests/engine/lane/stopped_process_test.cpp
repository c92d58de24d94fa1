// SPDX-License-Identifier: Apache-2.0
// A lane in a process that is stopped for longer than the lane's patience.
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "support/thread_state.hpp"
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/core/event_count.hpp"
#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "engine/lane/lane_set.hpp"

namespace penstock {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds borne_with{2};
constexpr std::chrono::seconds stopped_for{3};
/// Time for which the kernel goes on after the stop, so that the lane looks at its device before that is through.
constexpr std::chrono::milliseconds rest_of_the_kernel{200};

/// A kernel that stops the process once the thread that calls this sleeps: by then its patience has begun.
void launch_a_stop(StreamRef stream) {
  stream.launch(1, [lane = gettid()](std::uint32_t) {
    support::await_asleep(lane);
    raise(SIGSTOP);  // Goes to this thread: no instruction of it comes before the stop.
    auto const goes_on_since = Clock::now();
    while (Clock::now() - goes_on_since < rest_of_the_kernel) {
    }
  });
}

/// Stops the process while it works on a tile, or once it has none any more.
struct StoppingStage final : Stage {
  explicit StoppingStage(bool at_its_end) : stops_at_its_end(at_its_end) {}
  std::size_t run(DeviceTile const&, StreamRef stream) override {
    if (!stops_at_its_end) launch_a_stop(stream);
    return 0;
  }
  void finish(StreamRef stream) override {
    if (stops_at_its_end) launch_a_stop(stream);
  }
  bool const stops_at_its_end;
};

/// One tile. The exit code says what became of it and of its device.
[[noreturn]] void run_and_be_stopped(bool at_its_end) {
  alarm(120);
  static constexpr TileShape shape{.input_bytes = 256, .output_bytes = 256, .in_place = true};
  alignas(256) std::array<std::byte, 256> slab{};
  Pool pool(slab, shape, 1);
  cpu::CpuDevice device({.compute_threads = 1});
  std::atomic<int> outcome{-1};
  Stages const stages{.make = [=](StageContext const&) { return std::make_unique<StoppingStage>(at_its_end); }};
  {
    LaneSet lanes({{&device, {}}}, shape, 1, {.flight = {.patience = borne_with}}, stages, [&](Completion completion) {
      if (completion.failure) std::fprintf(stderr, "%s\n", completion.failure->reason.c_str());
      outcome = completion.ok() ? 0 : 1;
    });
    Loan loan = pool.borrow();
    if (!lanes.submit(loan)) std::_Exit(2);
    while (outcome < 0) std::this_thread::yield();
  }
  std::_Exit(device.abandoned() ? 3 : outcome.load());
}

struct ALaneWhoseProcessIsStopped : testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Process, ALaneWhoseProcessIsStopped, testing::Bool(),
                         [](auto const& instance) { return instance.param ? "AtItsEnd" : "AtWork"; });

TEST_P(ALaneWhoseProcessIsStopped, KeepsItsDevice) {
  pid_t const child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) run_and_be_stopped(GetParam());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status)) << "it ended with status " << status;
  // The test is that this time does not count.
  EventCount never;
  never.await([] { return false; }, std::chrono::nanoseconds(0), stopped_for);
  kill(child, SIGCONT);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace penstock
