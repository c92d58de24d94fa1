// SPDX-License-Identifier: Apache-2.0
#include "lease/opened_lease.hpp"

#include <algorithm>
#include <utility>

namespace penstock {

OpenedLease::OpenedLease(Lease lease, LeaseSourceOptions const& options) : lease_(std::move(lease)) {
  try {
    input_ = options.open(lease_);
    bytes_ = input_->size();
  } catch (...) {
    not_opened_ = std::current_exception();
  }
}

std::optional<OpenedLease::Piece> OpenedLease::cut(std::size_t most) {
  std::lock_guard const lock(mutex_);
  // An input without bytes is one empty tile.
  bool const is_first = cut_tiles_ == 0;
  if (kind_ != Settlement::Kind::acknowledge || (cut_bytes_ == bytes_ && !is_first)) {
    all_cut_ = true;
    return std::nullopt;
  }
  Piece const piece{cut_bytes_, static_cast<std::size_t>(std::min<std::uint64_t>(most, bytes_ - cut_bytes_))};
  cut_bytes_ += piece.bytes;
  ++cut_tiles_;
  all_cut_ = cut_bytes_ == bytes_;
  return piece;
}

void OpenedLease::read(Piece const& piece, std::span<std::byte> to) const {
  if (not_opened_ != nullptr) std::rethrow_exception(not_opened_);
  input_->read(piece.offset, to.first(piece.bytes));
}

void OpenedLease::came_back_done() {
  std::lock_guard const lock(mutex_);
  ++came_back_;
}

void OpenedLease::came_back(Completion const& completion) {
  std::lock_guard const lock(mutex_);
  ++came_back_;
  if (completion.outcome == Outcome::failed) {
    bool const lost = completion.failure->kind == ErrorKind::device_lost;
    if (lost) lost_.push_back(completion.loan->sequence);
    fail(lost ? Settlement::Kind::suspect : Settlement::Kind::fail,
         "at " + completion.failure->stage + ": " + completion.failure->reason);
  } else if (completion.outcome == Outcome::cancelled) {
    fail(Settlement::Kind::give_back, {});
  }
}

void OpenedLease::came_back_unusable(std::string reason) {
  std::lock_guard const lock(mutex_);
  ++came_back_;
  fail(Settlement::Kind::fail, "at sink: " + std::move(reason));
}

void OpenedLease::is_blameless() {
  std::lock_guard const lock(mutex_);
  blameless_ = true;
}

bool OpenedLease::ends() {
  std::lock_guard const lock(mutex_);
  if (ended_ || !all_cut_ || came_back_ != cut_tiles_) return false;
  ended_ = true;
  input_.reset();  // Nothing reads it any more, and its answer may take long.
  return true;
}

Settlement OpenedLease::settlement() const {
  std::lock_guard const lock(mutex_);
  if (blameless_ && kind_ == Settlement::Kind::fail)
    return {.kind = Settlement::Kind::give_back, .number = lease_.number, .tries = lease_.tries};
  return {.kind = kind_, .number = lease_.number, .tries = lease_.tries, .text = reason_};
}

bool OpenedLease::is_suspect() const {
  std::lock_guard const lock(mutex_);
  return kind_ == Settlement::Kind::suspect;
}

bool OpenedLease::is_innocent(Attribution const& found) const {
  std::lock_guard const lock(mutex_);
  return std::ranges::all_of(lost_,
                             [&](std::uint64_t tile) { return std::ranges::binary_search(found.innocent, tile); });
}

/// The gravest counts: a lost device, then a failure, then a tile that was cancelled.
void OpenedLease::fail(Settlement::Kind kind, std::string reason) {
  auto const grave = [](Settlement::Kind of) {
    return of == Settlement::Kind::suspect     ? 3
           : of == Settlement::Kind::fail      ? 2
           : of == Settlement::Kind::give_back ? 1
                                               : 0;
  };
  if (grave(kind) <= grave(kind_)) return;
  kind_ = kind;
  reason_ = std::move(reason);
}

}  // namespace penstock
