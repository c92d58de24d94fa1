// SPDX-License-Identifier: Apache-2.0
#include "penstock/sink/sink_writer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "penstock/core/failure_text.hpp"

namespace penstock {
namespace {

/// How many of the first `done` bytes are whole records, which end at `ends`.
std::size_t whole_of(std::span<std::size_t const> ends, std::size_t done) {
  auto const behind = std::upper_bound(ends.begin(), ends.end(), done);
  return behind == ends.begin() ? 0 : *std::prev(behind);
}

}  // namespace

SinkWriter::SinkWriter(WriterWords words, int descriptor, SinkOptions const& options, Ending const& ending,
                           SinkTally& tally)
    : words_(std::move(words)), options_(options), ending_(ending), tally_(tally), outlet_(descriptor) {
  piece_.reserve(options_.piece_bytes);
}

void SinkWriter::append(std::span<std::byte const> records) {
  if (failure_) throw Error(*failure_);
  if (records.empty()) return;
  if (piece_.size() + records.size() > options_.piece_bytes) flush();
  if (records.size() >= options_.piece_bytes) {
    std::array const end{records.size()};
    write(records, end);
  } else {
    ends_.push_back(piece_.size() + records.size());
    piece_.insert(piece_.end(), records.begin(), records.end());  // There is room: it allocates nothing.
  }
  tally_.given.fetch_add(records.size(), std::memory_order_relaxed);
}

void SinkWriter::flush() {
  if (failure_) throw Error(*failure_);
  write(piece_, ends_);
  piece_.clear();
  ends_.clear();
}

void SinkWriter::write(std::span<std::byte const> bytes, std::span<std::size_t const> ends) {
  std::size_t done = 0;
  int problem = 0;
  std::optional<std::chrono::steady_clock::time_point> give_up;
  while (done < bytes.size() && problem == 0) {
    auto const taken = outlet_.give(bytes.subspan(done));
    done += taken.bytes;
    problem = taken.problem;
    if (taken.bytes > 0 || problem != 0) continue;
    if (!ending_.requested() && outlet_.await_room(ending_, true, std::nullopt)) continue;
    // A stop. Its reader has a right to the rest of a record, for some time.
    bool const between_records = whole_of(ends, done) == done;
    if (!give_up) give_up = std::chrono::steady_clock::now() + options_.patience;
    if (between_records || !outlet_.await_room(ending_, false, give_up)) problem = ECANCELED;
  }
  std::size_t const whole = whole_of(ends, done);
  written_ += whole;
  tally_.written.fetch_add(whole, std::memory_order_relaxed);
  if (problem == 0) return;
  bool const in_part = done != whole && !outlet_.take_back(done - whole);
  fail(problem, in_part ? ", and a part of another" : "");
}

void SinkWriter::fail(int problem, std::string const& besides) {
  std::string const less = words_.name + " took less than all records";
  std::string const got = "got " + std::to_string(written_) + " bytes in whole records" + besides;
  std::string const outcome = words_.outcome.empty() ? got : words_.outcome;
  if (problem == ECANCELED) {
    failure_.emplace(ErrorKind::system, less + ": a stop was requested while it took none. It " + outcome + ".");
  } else {
    failure_.emplace(ErrorKind::system, less + " (" + std::strerror(problem) + "), and " + outcome + ": " +
                                            remedy_for_writing(problem) + ", or " + words_.instead + ".");
  }
  throw Error(*failure_);
}

}  // namespace penstock
