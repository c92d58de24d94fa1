// SPDX-License-Identifier: Apache-2.0
#include "resources/judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::sweep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Runs a script in a shell, as a program of which the library that refuses saw the beginning.
Ended shell(std::string const& script, std::chrono::seconds patience = std::chrono::seconds(300)) {
  Ended ended = run_child({.words = {"/bin/sh", "-c", script}, .folder = "/"}, patience);
  ended.report += "began\n";
  return ended;
}

TEST(AnEnd, ThatIsAllowedHasNoFault) {
  EXPECT_THAT(faults_of(shell("echo one; echo two"), {.lines = {"one", "two"}}), IsEmpty());
  EXPECT_THAT(faults_of(shell("echo 'sh: there is no room for this.' >&2; exit 4"), {.codes = {0, 4}}), IsEmpty());
}

TEST(AnEnd, OfAProgramThatWasNotEvenLoadedIsNotItsFault) {
  Ended ended = shell("kill -SEGV $$");
  ended.report.clear();
  EXPECT_THAT(faults_of(ended, {}), IsEmpty());
}

TEST(AnEnd, BySignalOrCodeIsAFault) {
  EXPECT_THAT(faults_of(shell("kill -SEGV $$"), {}), ElementsAre("signal 11"));
  EXPECT_THAT(faults_of(shell("echo 'sh: it is so for a reason.' >&2; exit 134"), {}), ElementsAre("code 134"));
}

TEST(AnEnd, ThatDoesNotComeIsAFaultAndLeavesNoProcess) {
  Ended const ended = shell("exec tail -f /dev/null", std::chrono::seconds(1));
  EXPECT_THAT(faults_of(ended, {}), ElementsAre("hang"));
}

TEST(AnEnd, HasWholeLinesAndAllOfThemIfAllWentWell) {
  EXPECT_THAT(faults_of(shell("printf one"), {}), ElementsAre("torn line"));
  EXPECT_THAT(faults_of(shell("echo one; echo three"), {.lines = {"one", "two"}}), ElementsAre("foreign line"));
  EXPECT_THAT(faults_of(shell("echo one; echo one"), {.lines = {"one"}}), ElementsAre("foreign line"));
  EXPECT_THAT(faults_of(shell("echo one"), {.lines = {"one", "two"}}), ElementsAre("missing line"));
  EXPECT_THAT(faults_of(shell("echo one; echo 'sh: two is not there today.' >&2; exit 1"),
                        {.codes = {0, 1}, .lines = {"one", "two"}}),
              IsEmpty());
  EXPECT_THAT(faults_of(shell("echo one; echo one"), {.lines = {"one", "one"}}), IsEmpty());
}

TEST(AnEnd, ThatIsNoSuccessMayHaveTheLinesOfAPart) {
  Allowed const sum{.codes = {0, 1}, .lines = {"sum 12"}, .any_if_not_well = true};
  EXPECT_THAT(faults_of(shell("echo sum 7; echo 'sh: a part is not there today.' >&2; exit 1"), sum), IsEmpty());
  EXPECT_THAT(faults_of(shell("echo sum 7"), sum), ElementsAre("foreign line"));
}

TEST(AnEnd, ThatIsNoSuccessHasASentence) {
  EXPECT_THAT(faults_of(shell("exit 4"), {.codes = {4}}), ElementsAre("no sentence"));
  EXPECT_THAT(faults_of(shell("echo 'sh: std::bad_alloc' >&2; exit 4"), {.codes = {4}}),
              ElementsAre("bare message: sh: std::bad_alloc"));
  EXPECT_THAT(faults_of(shell("printf 'sh: cut o' >&2; exit 4"), {.codes = {4}}), ElementsAre("torn message"));
}

TEST(AnEnd, HasResultsThatAreNoBareMessages) {
  EXPECT_THAT(faults_of(shell("echo 'one,,std::bad_alloc'"), {}), ElementsAre("bare result: one,,std::bad_alloc"));
  EXPECT_THAT(faults_of(shell("echo '1,\"failed, as: std::bad_alloc\"'"), {}),
              ElementsAre("bare result: N,\"failed, as: std::bad_alloc\""));
  EXPECT_THAT(faults_of(shell("echo 'a,Cannot allocate memory,b'"), {}),
              ElementsAre("bare result: a,Cannot allocate memory,b"));
  EXPECT_THAT(faults_of(shell("echo; echo 'a,,\"There is not enough memory: let there be more.\"'"), {}), IsEmpty());
}

TEST(AMessage, IsBareIfItIsTheSystemsOrALibrarys) {
  for (char const* const line : {"Cannot allocate memory", "penstock: Resource temporarily unavailable", "",
                                 "terminate called after throwing an instance of 'std::bad_alloc'",
                                 "penstock: [json.exception.type_error.316] invalid"}) {
    EXPECT_TRUE(is_bare(line)) << line;
  }
  for (char const* const line : {"penstock: a: Cannot allocate memory for this file; use smaller tiles.",
                                 "penstock: The system refused a thread."}) {
    EXPECT_FALSE(is_bare(line)) << line;
  }
}

TEST(AChild, IsHeldToItsLimits) {
  Order order{.words = {"/bin/sh", "-c", "ulimit -n; echo $WORD"}, .folder = "/", .environment = {"WORD=word"}};
  order.limits = {{.resource = RLIMIT_NOFILE, .most = 17}};
  EXPECT_EQ(run_child(order, std::chrono::seconds(300)).out, "17\nword\n");
}

}  // namespace
}  // namespace penstock::sweep
