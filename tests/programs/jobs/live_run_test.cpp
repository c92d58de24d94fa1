// SPDX-License-Identifier: Apache-2.0
#include "programs/jobs/live_run.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "support/gate.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/pipeline.hpp"
#include "programs/command/standard_output.hpp"

namespace penstock::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// One tile without bytes.
class OneTile final : public Source {
 public:
  bool next(Tile&) override { return !std::exchange(over_, true); }
  std::size_t fill(Tile&) override { return 0; }

 private:
  bool over_ = false;
};

/// Lines at a very short interval, each of which asks what leases came to.
struct LinesOnLeases : testing::Test {
  StandardOutput output;
  Interrupt const interrupt{output};
  LiveRun live{{.stats_every = 0.001}, true};
  std::atomic<unsigned> asked = 0;
  std::mutex mutex;
  std::condition_variable question;

  LeasesSoFar ask() {
    {
      std::lock_guard const lock(mutex);
      ++asked;
    }
    question.notify_all();
    return {.words = "3 of 5 leases done"};
  }
  /// Returns once lines were printed that were not begun before. Fails if nobody asks for them.
  void await_line() {
    std::unique_lock lock(mutex);
    // The line of the first is printed when it is asked for the third.
    bool const printed =
        question.wait_for(lock, std::chrono::minutes(2), [this, since = asked.load()] { return asked >= since + 3; });
    EXPECT_TRUE(printed) << "nobody asks for a line";
  }
};

/// Seen to fail where there were lines only while there was a pipeline.
TEST_F(LinesOnLeases, SayWhatTheyCameToWhileThereIsNoRun) {
  testing::internal::CaptureStderr();
  {
    auto const told = live.begin_leases([this] { return ask(); }, interrupt);
    await_line();
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(": 3 of 5 leases done; waits for a lease\n"));
}

/// Seen to fail where each run had lines of its own.
TEST_F(LinesOnLeases, AreThoseOfTheRunAsWell) {
  testing::internal::CaptureStderr();
  {
    auto const told = live.begin_leases([this] { return ask(); }, interrupt);
    cpu::CpuDevice device;
    Pipeline pipeline(device, {.tile = {.input_bytes = 64}, .tuning = {.tiles = 1}});
    OneTile source;
    auto const run = live.begin(pipeline, source, {}, interrupt);
    pipeline.run(source, on_device([](DeviceTile const&, StreamRef) {}), [this](Completion const&) { await_line(); })
        .unread.mark_read();
  }
  std::string const said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr(": 3 of 5 leases done; here "));
  EXPECT_THAT(said, HasSubstr("1 of 1 tile lent; waits for the "));
  EXPECT_THAT(said, Not(HasSubstr(": 1 of 1 tile lent")));
}

/// A ledger that cannot be reached for a moment leaves out a line. Seen to fail where the thread ended with it.
TEST_F(LinesOnLeases, GoOnBehindOneThatIsNotToBeHad) {
  testing::internal::CaptureStderr();
  {
    auto const told = live.begin_leases(
        [this] {
          auto so_far = ask();
          if (asked == 1) throw std::runtime_error("The ledger is locked.");
          return so_far;
        },
        interrupt);
    await_line();
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("3 of 5 leases done"));
}

}  // namespace
}  // namespace penstock::cli
