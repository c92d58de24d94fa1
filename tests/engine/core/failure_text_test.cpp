// SPDX-License-Identifier: Apache-2.0
#include "engine/core/failure_text.hpp"

#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string text_of(std::errc code) {
  return failure_text(std::system_error(std::make_error_code(code)));
}

TEST(FailureText, IsAnErrorsOwnSentence) {
  EXPECT_EQ(failure_text(Error(ErrorKind::bad_argument, "Say cpu.")), "Say cpu.");
}

TEST(FailureText, OfMemoryThatIsNotThereSaysWhatToDo) {
  EXPECT_THAT(failure_text(std::bad_alloc()), StartsWith("There is not enough memory: "));
}

TEST(FailureText, OfAThreadThatIsRefusedSaysWhatToDo) {
  EXPECT_THAT(text_of(std::errc::resource_unavailable_try_again), HasSubstr("(ulimit -u, or pids.max of the cgroup)"));
}

TEST(FailureText, OfAThreadThatIsRefusedNamesTheLimitOnMemoryToo) {
  EXPECT_THAT(text_of(std::errc::resource_unavailable_try_again), HasSubstr("(ulimit -v)"));
}

TEST(RemedyForWriting, IsThatOfTheProblem) {
  EXPECT_EQ(remedy_for_writing(ENOSPC), "see that its disk has room");
  EXPECT_EQ(remedy_for_writing(EDQUOT), "see that its disk has room");
  EXPECT_EQ(remedy_for_writing(EFBIG), "let files be larger (ulimit -f)");
  EXPECT_EQ(remedy_for_writing(EBADF), "see that it is open");
  EXPECT_EQ(remedy_for_writing(EPIPE), "see that its reader reads all");
  EXPECT_EQ(remedy_for_writing(EIO), "see what keeps it from taking all");
}

TEST(FailureText, OfFilesThatCannotBeOpenedSaysWhatToDo) {
  EXPECT_THAT(text_of(std::errc::too_many_files_open), HasSubstr("(ulimit -n)"));
  EXPECT_THAT(text_of(std::errc::too_many_files_open_in_system), HasSubstr("(ulimit -n)"));
}

TEST(FailureText, OfAnythingElseIsASentenceToo) {
  EXPECT_THAT(text_of(std::errc::not_enough_memory), StartsWith("The system refused: "));
  EXPECT_EQ(failure_text(std::runtime_error("odd")), "Something failed that was not foreseen: odd. Please report it.");
}

TEST(SystemProblem, IsTheSystemsWordsWithTheNumber) {
  EXPECT_EQ(system_problem(ENOENT), "No such file or directory (os error 2)");
  EXPECT_EQ(system_problem(EMFILE),
            "Too many open files (os error 24): let more be open (ulimit -n), or ask for fewer threads");
}

TEST(Shortage, IsOfDescriptorsOrOfMemoryAndSaysWhatToDo) {
  auto const descriptors = shortage("x", std::make_error_code(std::errc::too_many_files_open));
  ASSERT_TRUE(descriptors);
  EXPECT_EQ(descriptors->kind(), ErrorKind::system);
  EXPECT_THAT(descriptors->what(), StartsWith("x cannot be opened. No more files can be opened"));
  auto const memory = shortage("x", std::make_error_code(std::errc::not_enough_memory));
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->kind(), ErrorKind::out_of_memory);
}

TEST(Shortage, IsNothingThatIsWrongWithWhatIsOpened) {
  EXPECT_FALSE(shortage("x", std::make_error_code(std::errc::permission_denied)));
}

/// Some user's code, "decode", whose exceptions that are no Error count as bad arguments.
struct CurrentFailure : testing::Test {
  template <class Thrown>
  static Failure of(Thrown thrown) {
    try {
      throw thrown;
    } catch (...) {
      return *current_failure("decode", ErrorKind::bad_argument);
    }
  }
};

TEST_F(CurrentFailure, KeepsTextAndKindOfAnError) {
  Failure const failure = of(Error(ErrorKind::device_lost, "Gone."));
  EXPECT_EQ(failure.stage, "decode");
  EXPECT_EQ(failure.reason, "Gone.");
  EXPECT_EQ(failure.kind, ErrorKind::device_lost);
}

TEST_F(CurrentFailure, KeepsTheTextOfAnyStandardException) {
  Failure const failure = of(std::out_of_range("Row 7 is not there."));
  EXPECT_EQ(failure.stage, "decode");
  EXPECT_EQ(failure.reason, "Row 7 is not there.");
  EXPECT_EQ(failure.kind, ErrorKind::bad_argument);
}

TEST_F(CurrentFailure, HasASentenceForWhatIsNoException) {
  Failure const failure = of(42);
  EXPECT_EQ(failure.stage, "decode");
  EXPECT_EQ(failure.reason, "It threw something that is not a std::exception.");
  EXPECT_EQ(failure.kind, ErrorKind::bad_argument);
}

}  // namespace
}  // namespace penstock
