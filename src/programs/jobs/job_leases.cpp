// SPDX-License-Identifier: Apache-2.0
#include "programs/jobs/job_leases.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include <sys/stat.h>

#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"
#include "programs/work/ledger_files.hpp"
#include "programs/work/shared_ledger.hpp"

namespace penstock::cli {
namespace {

constexpr std::string_view answer_version = "1";

/// A part as a lease has it.
struct WrittenPart {
  JobPart part;
  std::uint64_t size = 0;
  std::uint64_t written_ns = 0;
};

/// The size of a file that was not there.
constexpr std::uint64_t absent = ~std::uint64_t{0};

std::uint64_t written_ns(struct stat const& status) {
  return static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
}

void put_number(std::string& to, std::uint64_t number) {
  put_text(to, std::to_string(number));
}
std::uint64_t take_number(std::string_view& from) {
  return number_of<std::uint64_t>(take_text(from));
}

void put_part(std::string& to, WrittenPart const& written) {
  put_text(to, written.part.path);
  for (std::uint64_t const number : {written.part.begin, written.part.end, written.size, written.written_ns})
    put_number(to, number);
}
WrittenPart take_part(std::string_view& from) {
  WrittenPart written;
  written.part.path = take_text(from);
  for (std::uint64_t* const number : {&written.part.begin, &written.part.end, &written.size, &written.written_ns})
    *number = take_number(from);
  return written;
}

void put_failure(std::string& to, Failure const& failure) {
  put_text(to, failure.stage);
  put_text(to, failure.reason);
}
Failure take_failure(std::string_view& from) {
  Failure failure;
  failure.stage = take_text(from);
  failure.reason = take_text(from);
  return failure;
}

void put_left_out(std::string& to, LeftOut const& one) {
  put_text(to, one.unit);
  put_text(to, one.reason);
  put_number(to, one.count);
  put_number(to, one.bytes);
  put_text(to, one.remedy);
  put_number(to, one.lost ? 1 : 0);
}
LeftOut take_left_out(std::string_view& from) {
  LeftOut one;
  one.unit = take_text(from);
  one.reason = take_text(from);
  one.count = take_number(from);
  one.bytes = take_number(from);
  one.remedy = take_text(from);
  one.lost = take_number(from) != 0;
  return one;
}

std::string left_out_text(JobPart const& part) {
  std::string const range =
      part.end == 0 ? "" : ", bytes " + std::to_string(part.begin) + " to " + std::to_string(part.end) + ",";
  return part.path + range + " left out";
}

void add_failure(Failure const& failure, Report& report) {
  if (report.first_failure) {
    report.run_failures.push_back(failure);
  } else {
    report.first_failure = FirstFailure{.failure = failure, .sequence = std::nullopt};
  }
}

}  // namespace

std::vector<LeaseWork> leases_of(std::vector<JobPart> const& parts, std::string const& ledger, std::uint64_t bytes) {
  LedgerFiles own(ledger);
  own.look();
  std::vector<LeaseWork> leases;
  std::size_t files = most_files_of_lease;
  std::uint64_t held = 0;
  for (JobPart const& part : parts) {
    struct stat status {};
    bool const is_there = stat(part.path.c_str(), &status) == 0;
    if (part.path == "-" || (is_there && !S_ISREG(status.st_mode)))
      throw Error(ErrorKind::bad_argument, "--ledger is for files that can be read again, and '" + part.path +
                                               "' is no regular file: name files, or leave out --ledger.");
    if (is_there && own.has(status))
      throw Error(ErrorKind::bad_argument,
                  part.path + " is a file of the ledger: name another for --ledger, or leave it out of the input.");
    if (files >= most_files_of_lease || held >= bytes || leases.back().payload.size() >= most_path_bytes_of_lease) {
      leases.emplace_back();
      files = 0;
      held = 0;
    }
    auto const size = static_cast<std::uint64_t>(status.st_size);
    put_part(leases.back().payload, {part, is_there ? size : absent, written_ns(status)});
    ++files;
    held += part.end != 0 ? part.end - part.begin : size;
  }
  return leases;
}

std::vector<JobPart> parts_of(std::string_view payload) {
  std::vector<JobPart> parts;
  while (!payload.empty()) parts.push_back(take_part(payload).part);
  return parts;
}

PartsNow parts_now(std::string_view payload) {
  PartsNow parts;
  while (!payload.empty()) {
    WrittenPart const then = take_part(payload);
    struct stat now {};
    bool const is_same = then.size == absent ||
                         (stat(then.part.path.c_str(), &now) == 0 &&
                          static_cast<std::uint64_t>(now.st_size) == then.size && written_ns(now) == then.written_ns);
    if (is_same)
      parts.same.push_back(then.part);
    else
      parts.changed.push_back({.stage = "source",
                               .reason = left_out_text(then.part) +
                                         ": it was changed or removed after the ledger was made: make another ledger "
                                         "for what it is now"});
  }
  return parts;
}

JobAnswer answer_for(Report const& report, std::uint64_t items, std::string partial) {
  JobAnswer answer{.tiles_done = report.tiles_done,
                   .tiles_failed = report.tiles_failed,
                   .sink_failures = report.sink_failures,
                   .bytes_in = report.bytes_in,
                   .bytes_out = report.bytes_out,
                   .items = items,
                   .failures = {},
                   .left_out = report.left_out,
                   .partial = std::move(partial)};
  if (report.first_failure) answer.failures.push_back(report.first_failure->failure);
  if (report.first_sink_failure) answer.failures.push_back(report.first_sink_failure->failure);
  answer.failures.insert(answer.failures.end(), report.run_failures.begin(), report.run_failures.end());
  return answer;
}

std::string text_of(JobAnswer const& answer) {
  std::string text;
  put_text(text, answer_version);
  for (std::uint64_t const number :
       {answer.tiles_done, answer.tiles_failed, answer.sink_failures, answer.bytes_in, answer.bytes_out, answer.items})
    put_number(text, number);
  put_number(text, answer.failures.size());
  for (Failure const& failure : answer.failures) put_failure(text, failure);
  put_number(text, answer.left_out.size());
  for (LeftOut const& one : answer.left_out) put_left_out(text, one);
  return text + answer.partial;
}

JobAnswer answer_of(std::string_view text) {
  if (take_text(text) != answer_version)
    throw Error(ErrorKind::bad_argument,
                "Another version of this program worked on the ledger: go on with that one, or make another ledger.");
  JobAnswer answer;
  for (std::uint64_t* const number : {&answer.tiles_done, &answer.tiles_failed, &answer.sink_failures, &answer.bytes_in,
                                      &answer.bytes_out, &answer.items})
    *number = take_number(text);
  for (std::uint64_t left = take_number(text); left > 0 && !text.empty(); --left)
    answer.failures.push_back(take_failure(text));
  for (std::uint64_t left = take_number(text); left > 0 && !text.empty(); --left)
    answer.left_out.push_back(take_left_out(text));
  answer.partial = text;
  return answer;
}

void add_answer(JobAnswer const& answer, Report& report) {
  report.tiles_done += answer.tiles_done;
  report.tiles_failed += answer.tiles_failed;
  report.sink_failures += answer.sink_failures;
  report.bytes_in += answer.bytes_in;
  report.bytes_out += answer.bytes_out;
  for (Failure const& failure : answer.failures) add_failure(failure, report);
  add_left_out(report.left_out, answer.left_out);
}

void add_parked(ParkedLease const& lease, Report& report) {
  std::vector<JobPart> const parts = parts_of(lease.work.payload);
  std::string what =
      parts.empty() ? "lease " + std::to_string(lease.number) + " left out" : left_out_text(parts.front());
  if (parts.size() > 1) what = parts.front().path + " and " + count_text(parts.size() - 1, "other file") + " left out";
  std::string const why = lease.tries > 1 ? " after " + std::to_string(lease.tries) + " tries" : "";
  add_failure({.stage = "source", .reason = what + why + ": " + lease.reason}, report);
}

std::string purpose_of(Job const& job, JobPoint const& point) {
  std::string words;
  std::size_t count = 0;
  for (JobOption const& option : job.options) {
    auto const& values = point.values.texts(option.name);
    if (values.empty() || (values.size() == 1 && values.front() == option.preset)) continue;
    words += " --" + option.name;
    for (std::string const& value : values) words += " " + quoted_word(value);
    count += 1 + values.size();
  }
  words += " --tile " + std::to_string(point.tile_bytes);
  return purpose_of(job.name + " run", "", words, count_text(count + 2, "word"));
}

}  // namespace penstock::cli
