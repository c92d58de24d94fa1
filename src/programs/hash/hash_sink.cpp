// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/hash_sink.hpp"

#include <cstring>
#include <utility>

#include "engine/core/pool.hpp"
#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

HashFault fault_of(Failure const& failure) {
  if (failure.kind == ErrorKind::device_lost) return HashFault::device;
  return failure.stage == "source" ? HashFault::file : HashFault::process;
}

}  // namespace

HashSink::HashSink(HashSource const& source, HashBook& book, Progress& progress, std::stop_source enough,
                   std::function<bool()> no_device_left)
    : source_(source),
      book_(book),
      progress_(progress),
      enough_(std::move(enough)),
      no_device_left_(std::move(no_device_left)) {}

void HashSink::take(Completion const& completion) {
  if (FileGroup const* const group = source_.group_of(*completion.loan)) return take(*group, completion);
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
      // This comes first, since the book may throw.
      stop_without_device(completion);
      book_.fail(place.file, completion.failure->reason, fault_of(*completion.failure));
      break;
    case Outcome::cancelled:
      book_.cancel(place.file);
      break;
  }
}

/// Its files were hashed when the tile was filled, unless it never was.
void HashSink::take(FileGroup const& group, Completion const& completion) {
  progress_.add(group.bytes);
  if (completion.outcome == Outcome::failed) stop_without_device(completion);
  if (group.booked) {
    // The book threw an exception there: lines may be missing, and the run must say so.
    if (completion.outcome == Outcome::failed && completion.failure->stage == "source")
      throw Error(completion.failure->kind, completion.failure->reason);
    return;
  }
  for (GroupedFile const& file : group.files) {
    if (file.deferred) continue;
    if (completion.outcome == Outcome::failed) {
      book_.fail(file.number, completion.failure->reason, fault_of(*completion.failure));
    } else {
      book_.cancel(file.number);
    }
    book_.close(file.number, 1);
  }
}

void HashSink::stop_without_device(Completion const& completion) {
  if (completion.failure->kind == ErrorKind::device_lost && no_device_left_()) enough_.request_stop();
}

}  // namespace penstock::cli
