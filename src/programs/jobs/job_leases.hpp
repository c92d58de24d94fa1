// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/job.hpp"
#include "penstock/lease/ledger.hpp"
#include "penstock/report.hpp"

// The texts that the ledger of a job's `run --ledger` keeps. A lease is parts of the input, with the size and the time
// of writing of each file, and an answer is what a run on them came to.
//
// Threads: any.
namespace penstock::cli {

/// The leases of these parts, each of which ends with the part that reaches `bytes`, or with the 128th.
///
/// Throws: Error of kind bad_argument, if a file cannot be read again, or is one of the ledger's own.
std::vector<LeaseWork> leases_of(std::vector<JobPart> const& parts, std::string const& ledger, std::uint64_t bytes);
/// All parts of a lease, by its payload.
std::vector<JobPart> parts_of(std::string_view payload);
/// The parts of a lease whose files are as they were when the lease was made. A file that was not there then is one of
/// them: the run says that it is missing.
struct PartsNow {
  std::vector<JobPart> same = {};
  std::vector<Failure> changed = {};  ///< One for each other part.
};
PartsNow parts_now(std::string_view payload);

/// What a run on the parts of one lease came to.
struct JobAnswer {
  std::uint64_t tiles_done = 0;
  std::uint64_t tiles_failed = 0;
  std::uint64_t sink_failures = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t items = 0;
  std::vector<Failure> failures = {};  ///< The first of a tile, and those of the run.
  std::vector<LeftOut> left_out = {};
  std::string partial = {};  ///< JobWork::partial.
};
/// The answer for a run with this report.
JobAnswer answer_for(Report const& report, std::uint64_t items, std::string partial);
std::string text_of(JobAnswer const& answer);
/// Throws: Error of kind bad_argument, if another version of the program wrote the text.
JobAnswer answer_of(std::string_view text);
/// Adds an answer to the report of all.
void add_answer(JobAnswer const& answer, Report& report);
/// Adds a lease without an answer, as a failure.
void add_parked(ParkedLease const& lease, Report& report);

/// What the ledger is for: the job, and the options that its results depend on, as they differ from the presets.
std::string purpose_of(Job const& job, JobPoint const& point);

}  // namespace penstock::cli
