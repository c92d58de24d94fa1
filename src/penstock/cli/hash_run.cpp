// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/hash_run.hpp"

#include <cstring>
#include <utility>

#include "penstock/core/current_failure.hpp"

namespace penstock::cli {

HashRun::HashRun(HashSource& source, HashBook& book, Progress& progress, std::stop_source enough)
    : source_(source), book_(book), progress_(progress), enough_(std::move(enough)) {}

bool HashRun::next(Tile& tile) {
  try {
    return source_.next(tile);
  } catch (...) {
    note_current();
    throw;
  }
}

std::size_t HashRun::fill(Tile& tile) {
  return source_.fill(tile);
}

void HashRun::take(Completion const& completion) {
  if (completion.failure != nullptr && completion.failure->kind == ErrorKind::device_lost) enough_.request_stop();
  try {
    book(completion);
  } catch (...) {
    note_current();
    throw;
  }
}

void HashRun::book(Completion const& completion) {
  auto const place = source_.place_of(*completion.loan);
  switch (completion.outcome) {
    case Outcome::done: {
      Blake3Node node;
      std::memcpy(&node, completion.loan->output().data(), sizeof node);
      book_.add(place.file, place.tile, node, completion.loan->filled);
      progress_.add(completion.loan->filled);
      break;
    }
    case Outcome::failed:
      book_.fail(place.file, completion.failure->reason);
      break;
    case Outcome::cancelled:
      book_.cancel(place.file);
      break;
  }
}

std::optional<std::string> HashRun::problem() const {
  std::scoped_lock const lock(mutex_);
  return problem_;
}

/// To be called in a catch block only.
void HashRun::note_current() {
  auto const failure = current_failure("", ErrorKind::system);
  std::scoped_lock const lock(mutex_);
  if (!problem_) problem_ = failure->reason;
}

}  // namespace penstock::cli
