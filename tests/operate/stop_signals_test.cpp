// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>

#include <gtest/gtest.h>
#include <unistd.h>

#include "penstock/operate/operation.hpp"

namespace penstock {
namespace {

/// Blocks: until a stop is requested.
void await(std::stop_token const& token) {
  std::mutex mutex;
  std::condition_variable_any requested;
  std::unique_lock lock(mutex);
  requested.wait(lock, token, [] { return false; });
}

/// Ends the process with 0 if `holds`.
[[noreturn]] void end_with(bool holds) {
  std::_Exit(holds ? 0 : 1);
}

/// Its read end and its write end.
std::array<int, 2> new_pipe() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) end_with(false);
  return ends;
}

/// Each test is a process that has no other thread when it makes StopSignals.
struct StopSignalsOfAProcess : testing::Test {
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(StopSignalsOfAProcess, TurnTheFirstSignalIntoAStopRequest) {
  for (int const signal : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EXIT(
        {
          StopSignals const signals;
          bool const before = signals.requested();
          kill(getpid(), signal);
          await(signals.token());
          end_with(!before && signals.requested());
        },
        testing::ExitedWithCode(0), "");
  }
}

TEST_F(StopSignalsOfAProcess, EndTheProcessAtTheSecondSignal) {
  EXPECT_EXIT(
      {
        StopSignals const signals(
            {.ending = [] { static_cast<void>(!write(STDERR_FILENO, "the last line\n", 14)); }, .exit_code = 7});
        kill(getpid(), SIGINT);
        await(signals.token());
        kill(getpid(), SIGTERM);
        for (;;) pause();
      },
      testing::ExitedWithCode(7), "the last line");
}

TEST_F(StopSignalsOfAProcess, LeaveASignalThatKillsItsOwnWay) {
  EXPECT_EXIT(
      {
        StopSignals const signals;
        kill(getpid(), SIGUSR1);
        for (;;) pause();
      },
      testing::KilledBySignal(SIGUSR1), "");
}

TEST_F(StopSignalsOfAProcess, LeaveASignalIgnoredThatIsIgnored) {
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);
        int asked = 0;
        StopSignals const signals({.asked = [&] { ++asked; }});
        kill(getpid(), SIGHUP);
        kill(getpid(), SIGTERM);
        await(signals.token());
        end_with(asked == 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(StopSignalsOfAProcess, LeaveAHangUpToTheProgramIfItTakesIt) {
  EXPECT_EXIT(
      {
        std::stop_source told;
        int hang_ups = 0;
        StopSignals const signals({.hung_up = [&] {
          told.request_stop();
          return ++hang_ups == 1;
        }});
        kill(getpid(), SIGHUP);
        await(told.get_token());
        bool const goes_on = !signals.requested();
        kill(getpid(), SIGHUP);
        await(signals.token());
        end_with(goes_on && hang_ups == 2);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(StopSignalsOfAProcess, StopWhenTheReaderOfTheOutputHasGone) {
  EXPECT_EXIT(
      {
        auto const ends = new_pipe();
        StopSignals const signals({.output = ends[1]});
        bool const before = signals.requested();
        close(ends[0]);
        await(signals.token());
        end_with(!before);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(StopSignalsOfAProcess, GoOnIfTheProgramSaysThatItsOutputIsNotLost) {
  EXPECT_EXIT(
      {
        auto const ends = new_pipe();
        std::stop_source told;
        StopSignals signals({.output = ends[1], .output_is_lost = [&] {
                               told.request_stop();
                               return false;
                             }});
        close(ends[0]);
        await(told.get_token());
        bool const goes_on = !signals.requested();
        signals.request();
        end_with(goes_on && signals.requested());
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace penstock
