// SPDX-License-Identifier: Apache-2.0
#include "egress/sink/sink_writer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include <unistd.h>

#include "egress/sink/open_to_write.hpp"
#include "engine/core/failure_text.hpp"
#include "engine/machine/new_file.hpp"

namespace penstock {
namespace {

/// Number of the first `done` bytes that are in whole records, whose ends are `ends`.
std::size_t whole_of(std::span<std::size_t const> ends, std::size_t done) {
  auto const behind = std::upper_bound(ends.begin(), ends.end(), done);
  return behind == ends.begin() ? 0 : *std::prev(behind);
}

}  // namespace

SinkWriter::SinkWriter(WriterWords words, int descriptor, SinkOptions const& options, Ending const& ending,
                       SinkTally& tally)
    : words_(std::move(words)),
      options_(options),
      ending_(ending),
      tally_(tally),
      descriptor_(descriptor),
      outlet_(descriptor) {
  piece_.reserve(options_.piece_bytes);
}

void SinkWriter::append(std::span<std::byte const> records) {
  expect_none(0);
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
  expect_none(0);
  write(piece_, ends_);
  piece_.clear();
  ends_.clear();
}

void SinkWriter::sync(std::string const& path) {
  expect_none(sync_file(descriptor_));
  if (!path.empty()) expect_none(sync_folder_of(path));
}

void SinkWriter::shut() {
  outlet_.shut();
  int const own = std::exchange(own_.number, -1);
  expect_none(own >= 0 && ::close(own) != 0 ? errno : 0);
}

void SinkWriter::write(std::span<std::byte const> bytes, std::span<std::size_t const> ends) {
  std::size_t done = 0;
  int problem = 0;
  std::optional<std::chrono::steady_clock::time_point> give_up;
  while (done < bytes.size() && problem == 0) {
    auto const taken = outlet_.give(bytes.subspan(done));
    done += taken.bytes;
    problem = taken.problem;
    if (taken.bytes > 0) give_up.reset();
    if (taken.bytes > 0 || problem != 0) continue;
    if (!ending_.requested() && outlet_.await_room(ending_, true, std::nullopt)) continue;
    // After a stop a slow reader still gets all; one that accepts nothing is not waited for any longer.
    auto const now = std::chrono::steady_clock::now();
    bool const is_over = give_up && now >= *give_up;
    if (!give_up) give_up = now + options_.patience;
    if (is_over || !outlet_.await_room(ending_, false, give_up)) problem = ECANCELED;
  }
  std::size_t const whole = whole_of(ends, done);
  written_ += whole;
  tally_.written.fetch_add(whole, std::memory_order_relaxed);
  if (problem != 0) in_part_ = done != whole && !outlet_.take_back(done - whole);
  expect_none(problem);
}

void SinkWriter::expect_none(int problem) {
  if (problem_ == 0) problem_ = problem;
  if (problem_ != 0) throw failure();
}

Error SinkWriter::failure() const {
  std::string const less = words_.name + " took less than all records";
  std::string const got =
      "got " + std::to_string(written_) + " bytes in whole records" + (in_part_ ? ", and a part of another" : "");
  std::string const outcome = words_.outcome.empty() ? got : words_.outcome;
  if (problem_ == ECANCELED)
    return {ErrorKind::system, less + ": a stop was requested while it took none. It " + outcome + "."};
  return {ErrorKind::system, less + " (" + std::strerror(problem_) + "), and " + outcome + ": " +
                                 remedy_for_writing(problem_) + ", or " + words_.instead + "."};
}

}  // namespace penstock
