// SPDX-License-Identifier: Apache-2.0
#include "programs/command/run_program.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "penstock/error.hpp"
#include "programs/command/subreaper.hpp"

namespace penstock::cli {
namespace {

using namespace std::chrono_literals;

ProgramRun shell(std::string const& script) {
  ProgramRun run;
  run.arguments = {"/bin/sh", "-c", script};
  return run;
}

/// Each test leaves no process behind.
struct ProgramThatRuns : testing::Test {
  void TearDown() override { EXPECT_TRUE(descendants().empty()); }
};

TEST_F(ProgramThatRuns, IsToldFromOthersByItsCodeItsSignalAndWhatItWrote) {
  ProgramEnd const end = run_program(shell("echo out; echo complaint >&2; exit 3"));
  EXPECT_EQ(end.code, 3);
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.output.begin(), "out\n");
  EXPECT_EQ(end.complaint.begin(), "complaint\n");
  ProgramEnd const killed = run_program(shell("kill -SEGV $$"));
  EXPECT_EQ(killed.code, 128 + SIGSEGV);
  EXPECT_EQ(killed.signal, SIGSEGV);
}

TEST_F(ProgramThatRuns, TakesItsTimeAndThatOfItsChildren) {
  ProgramEnd const end = run_program(shell("sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'; exit 0"));
  EXPECT_GT(end.cpu, 1ms);
  EXPECT_GT(end.wall, 1ms);
}

TEST_F(ProgramThatRuns, HasItsOutputSummedAndOnlyItsBeginKept) {
  ProgramRun run = shell("head -c 3000000 /dev/zero; echo end");
  run.keep = 10;
  ProgramEnd const end = run_program(run);
  EXPECT_EQ(end.output.bytes(), 3'000'004u);
  EXPECT_EQ(end.output.begin(), std::string(10, '\0'));
  EXPECT_TRUE(alike(end.output, run_program(run).output));
  ProgramEnd const other = run_program(shell("head -c 3000000 /dev/zero; echo eNd"));
  EXPECT_FALSE(alike(end.output, other.output));
}

TEST_F(ProgramThatRuns, SeesVariablesThatAreSetForItAndNoProcessElseDoes) {
  setenv("PENSTOCK_TEST_VALUE", "ours", 1);
  ProgramRun run = shell("echo $PENSTOCK_TEST_VALUE; sh -c 'echo $PENSTOCK_TEST_VALUE'");
  run.environment = {{"PENSTOCK_TEST_VALUE", "its"}};
  EXPECT_EQ(run_program(run).output.begin(), "its\nits\n");
  EXPECT_STREQ(getenv("PENSTOCK_TEST_VALUE"), "ours");
  unsetenv("PENSTOCK_TEST_VALUE");
}

TEST_F(ProgramThatRuns, IsEndedIfItsTimeIsUpAlsoIfItDoesNotListen) {
  ProgramRun run = shell("trap '' TERM; echo deaf; while :; do :; done");
  run.longest = run.grace = 50ms;
  ProgramEnd end = run_program(run);
  // Its time may be up before it is deaf on a busy machine.
  for (; end.output.bytes() == 0; end = run_program(run)) run.longest *= 2;
  EXPECT_TRUE(end.overtime);
  EXPECT_EQ(end.signal, SIGKILL);
}

TEST_F(ProgramThatRuns, IsAskedToEndIfItIsToStop) {
  std::stop_source stop;
  stop.request_stop();
  ProgramEnd const end = run_program(shell("exec tail -f /dev/null"), stop.get_token());
  EXPECT_EQ(end.signal, SIGTERM);
  EXPECT_FALSE(end.overtime);
}

TEST_F(ProgramThatRuns, IsWaitedForAfterItHasClosedItsDescriptors) {
  EXPECT_EQ(run_program(shell("exec >&- 2>&- <&-; i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; exit 7")).code,
            7);
}

TEST_F(ProgramThatRuns, LeavesNoProcessNotEvenOneInASessionOfItsOwn) {
  ProgramEnd const end = run_program(shell("setsid tail -f /dev/null & tail -f /dev/null & exit 0"));
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.left, 2u);
}

TEST_F(ProgramThatRuns, LeavesProcessesThatAreNoneOfOurs) {
  ProgramRun run = shell("tail -f /dev/null > /dev/null 2>&1 & echo $!");
  run.all_end = false;
  ProgramEnd const end = run_program(run);
  pid_t left = 0;
  std::string const& said = end.output.begin();
  std::from_chars(said.data(), said.data() + said.size(), left);
  ASSERT_GT(left, 0);
  EXPECT_EQ(kill(left, 0), 0);
  kill(left, SIGKILL);
}

TEST_F(ProgramThatRuns, WritesWhereItIsTold) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ProgramRun run = shell("echo there");
  run.output = ends[1];
  EXPECT_EQ(run_program(run).output.bytes(), 0u);
  close(ends[1]);
  char text[16] = {};
  EXPECT_EQ(read(ends[0], text, sizeof text), 6);
  EXPECT_STREQ(text, "there\n");
  close(ends[0]);
}

TEST_F(ProgramThatRuns, IsASentenceIfItCannotBeStarted) {
  ProgramRun run;
  run.arguments = {"/nowhere/program"};
  EXPECT_THROW(run_program(run), Error);
}

}  // namespace
}  // namespace penstock::cli
