// SPDX-License-Identifier: Apache-2.0
#include "programs/jobs/job_leases.hpp"

#include <string>
#include <utility>
#include <vector>

#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

struct LeasesOfAJob : support::FolderOfFiles {
  std::string problem_of(std::string const& input) const {
    try {
      leases_of({{.path = input}}, path("ledger"), 1);
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      return error.what();
    }
    return "";
  }
};

TEST_F(LeasesOfAJob, HaveSmallFilesTogetherAndLargePartsAlone) {
  std::string const small = file("small", 10), large = file("large", 1000);
  std::vector<JobPart> const parts{{small}, {small}, {large, 0, 500}, {large, 500, 1000}, {small}, {small}};
  auto const leases = leases_of(parts, path("ledger"), 400);
  ASSERT_THAT(leases, SizeIs(3));
  EXPECT_THAT(parts_of(leases[0].payload), ElementsAre(parts[0], parts[1], parts[2]));
  EXPECT_THAT(parts_of(leases[1].payload), ElementsAre(parts[3]));
  EXPECT_THAT(parts_of(leases[2].payload), ElementsAre(parts[4], parts[5]));
  EXPECT_THAT(leases_of(std::vector<JobPart>(300, {small}), path("ledger"), 1U << 30U), SizeIs(3)) << "128 each";
}

TEST_F(LeasesOfAJob, TellFilesThatHaveChanged) {
  std::string const one = file("one", 10), other = file("other", 10);
  std::string const payload = leases_of({{one}, {other}}, path("ledger"), 100).front().payload;
  EXPECT_THAT(parts_now(payload).same, SizeIs(2));
  file("other", 11);
  PartsNow const parts = parts_now(payload);
  ASSERT_THAT(parts.same, ElementsAre(JobPart{one}));
  ASSERT_THAT(parts.changed, SizeIs(1));
  EXPECT_THAT(parts.changed[0].reason,
              HasSubstr(other + " left out: it was changed or removed after the ledger was made"));
}

TEST_F(LeasesOfAJob, AreOfFilesThatCanBeReadAgain) {
  EXPECT_THAT(problem_of("-"), HasSubstr("'-' is no regular file"));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(problem_of(path("pipe")), HasSubstr("is no regular file"));
  EXPECT_THAT(problem_of(file("ledger", 1)), HasSubstr("is a file of the ledger"));
  EXPECT_EQ(problem_of(file("file", 1)), "");
}

TEST_F(LeasesOfAJob, AnswersAreReadAsTheyWereWritten) {
  Report report;
  report.tiles_done = 7;
  report.tiles_failed = 1;
  report.bytes_in = 1'000'000'000'000;
  report.first_failure = FirstFailure{{.stage = "source", .reason = "a file is damaged."}, 3};
  report.run_failures = {{.stage = "stage", .reason = "no"}};
  report.left_out = {{.unit = "record", .reason = "too long", .count = 2, .bytes = 9, .remedy = "more", .lost = true}};
  std::string const partial("one\0two\n", 8);
  JobAnswer const answer = answer_of(text_of(answer_for(report, 5, partial)));
  EXPECT_EQ(answer.partial, partial);
  EXPECT_EQ(answer.items, 5U);
  Report sum;
  add_answer(answer, sum);
  add_answer(answer, sum);
  EXPECT_EQ(sum.tiles_done, 14U);
  EXPECT_EQ(sum.tiles_failed, 2U);
  EXPECT_EQ(sum.bytes_in, 2'000'000'000'000U);
  ASSERT_THAT(sum.left_out, SizeIs(1));
  EXPECT_EQ(sum.left_out[0].count, 4U);
  EXPECT_EQ(sum.first_failure->failure.reason, "a file is damaged.");
  EXPECT_THAT(sum.run_failures, SizeIs(3));
}

TEST_F(LeasesOfAJob, AnswersOfAnotherVersionAreRefused) {
  EXPECT_THROW(answer_of(std::string("2\0", 2)), Error);
}

TEST_F(LeasesOfAJob, APurposeHasTheOptionsThatDifferFromTheirPresets) {
  Job const job{.name = "lines", .options = {files_option("input", "Files"), number_option("key", "Key", 0, 0, 9)}};
  JobPoint point{.tile_bytes = 4096};
  point.values.set("input", std::vector<std::string>{"a b", "c"});
  point.values.set("key", "0");
  EXPECT_THAT(purpose_of(job, point), HasSubstr(", of --input 'a b' 'c' --tile 4096"));
  point.values.set("key", "3");
  EXPECT_THAT(purpose_of(job, point), HasSubstr(", of --input 'a b' 'c' --key '3' --tile 4096"));
}

}  // namespace
}  // namespace penstock::cli
