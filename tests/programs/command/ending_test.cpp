// SPDX-License-Identifier: Apache-2.0
#include "programs/command/ending.hpp"

#include <new>
#include <stdexcept>
#include <system_error>

#include <gmock/gmock.h>

#include "penstock/error.hpp"
#include "programs/command/arguments.hpp"

namespace penstock::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Complaint, IsAnErrorsOwnSentenceWithTheCodeOfItsKind) {
  EXPECT_EQ(complaint_about(Error(ErrorKind::bad_argument, "Say cpu.")).sentence, "Say cpu.");
  EXPECT_EQ(complaint_about(Error(ErrorKind::bad_argument, "Say cpu.")).code, exit_bad_options);
  EXPECT_EQ(complaint_about(Error(ErrorKind::system, "It refused.")).code, exit_device);
}

TEST(Complaint, OfMemoryThatIsNotThereSaysWhatToDo) {
  Complaint const complaint = complaint_about(std::bad_alloc());
  EXPECT_THAT(complaint.sentence, StartsWith("There is not enough memory: "));
  EXPECT_EQ(complaint.code, exit_device);
}

TEST(Complaint, OfAThreadThatIsRefusedSaysWhatToDo) {
  std::system_error const refused(std::make_error_code(std::errc::resource_unavailable_try_again));
  EXPECT_THAT(complaint_about(refused).sentence, HasSubstr("(ulimit -u, or pids.max of the cgroup)"));
  EXPECT_EQ(complaint_about(refused).code, exit_device);
}

TEST(Complaint, OfFilesThatCannotBeOpenedSaysWhatToDo) {
  std::system_error const refused(std::make_error_code(std::errc::too_many_files_open));
  EXPECT_THAT(complaint_about(refused).sentence, HasSubstr("(ulimit -n)"));
}

TEST(Complaint, OfResultsThatCannotBeReadSaysWhatToDo) {
  try {
    machine_of_results("{");
    ADD_FAILURE() << "it was read";
  } catch (std::exception const& failure) {
    EXPECT_THAT(complaint_about(failure).sentence, StartsWith("Results of another process cannot be read ("));
    EXPECT_THAT(complaint_about(failure).sentence, HasSubstr("use programs of one build"));
    EXPECT_THAT(complaint_about(failure).sentence, Not(HasSubstr("[json.")));
  }
}

TEST(Complaint, OfAnythingElseIsASentenceToo) {
  EXPECT_EQ(complaint_about(std::runtime_error("odd")).sentence,
            "Something failed that was not foreseen: odd. Please report it.");
}

}  // namespace
}  // namespace penstock::cli
