// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/hash_book.hpp"

#include <algorithm>
#include <utility>

namespace penstock::cli {

HashBook::HashBook(OnFile on_file, OnEnough on_enough)
    : on_file_(std::move(on_file)), on_enough_(std::move(on_enough)) {}

HashBook::Record& HashBook::record(std::uint64_t file) {
  return records_.at(file - first_);
}

std::uint64_t HashBook::open(std::string path, std::string expected, std::string shown, std::uint64_t lease) {
  std::scoped_lock const lock(mutex_);
  HashedFile& file = records_.emplace_back().file;
  file.path = std::move(path);
  file.expected = std::move(expected);
  file.shown = std::move(shown);
  file.lease = lease;
  return first_ + records_.size() - 1;
}

std::uint64_t HashBook::open(std::vector<HashedFile> files) {
  std::scoped_lock const lock(mutex_);
  std::uint64_t const first = first_ + records_.size();
  for (HashedFile& file : files) records_.emplace_back().file = std::move(file);
  return first;
}

void HashBook::close(std::uint64_t file, std::uint64_t tiles) {
  std::scoped_lock const lock(mutex_);
  record(file).tiles = tiles;
  hand_out();
}

void HashBook::abandon(std::uint64_t file, std::uint64_t tiles) {
  std::scoped_lock const lock(mutex_);
  Record& mine = record(file);
  mine.file.cancelled = true;
  mine.tiles = tiles;
  hand_out();
}

void HashBook::add(std::uint64_t file, std::uint64_t tile, Blake3Node const& node, std::size_t bytes) {
  std::scoped_lock const lock(mutex_);
  Record& mine = record(file);
  mine.tree.add(tile, node);
  mine.file.bytes += bytes;
  ++mine.back;
  hand_out();
}

void HashBook::add(std::span<WholeFile const> files) {
  std::scoped_lock const lock(mutex_);
  for (WholeFile const& one : files) {
    Record& mine = record(one.number);
    mine.tiles = mine.back = 1;
    if (one.problem.empty()) {
      mine.file.digest = one.digest;
      mine.file.bytes = one.bytes;
    } else {
      note_locked(mine, one.problem);
    }
  }
  hand_out();
}

void HashBook::fail(std::uint64_t file, std::string const& problem, HashFault fault) {
  std::scoped_lock const lock(mutex_);
  Record& mine = record(file);
  note_locked(mine, problem);
  mine.file.fault = std::max(mine.file.fault, fault);
  ++mine.back;
  hand_out();
}

void HashBook::cancel(std::uint64_t file) {
  std::scoped_lock const lock(mutex_);
  Record& mine = record(file);
  mine.file.cancelled = true;
  ++mine.back;
  hand_out();
}

void HashBook::note(std::uint64_t file, std::string const& problem) {
  std::scoped_lock const lock(mutex_);
  note_locked(record(file), problem);
}

bool HashBook::empty() const {
  std::scoped_lock const lock(mutex_);
  return records_.empty();
}

void HashBook::note_locked(Record& mine, std::string const& problem) {
  if (mine.file.problem.empty()) mine.file.problem = problem;
}

/// The caller holds the mutex, so files come out one at a time and in order.
void HashBook::hand_out() {
  bool any = false;
  while (!records_.empty()) {
    Record& oldest = records_.front();
    if (!oldest.tiles || oldest.back != *oldest.tiles) break;
    HashedFile& its = oldest.file;
    if (its.problem.empty() && !its.cancelled && !its.digest) its.digest = oldest.tree.finish(*oldest.tiles);
    // The file leaves the book before the callback is called, so that a callback that throws is not called again for
    // it.
    HashedFile const file = std::move(oldest.file);
    records_.pop_front();
    ++first_;
    any = true;
    on_file_(file);
  }
  if (any && on_enough_) on_enough_();
}

}  // namespace penstock::cli
