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
  if (kind_ != Settlement::Kind::acknowledge || !lost_.empty() || (cut_bytes_ == bytes_ && !is_first)) {
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
    std::string reason = "at " + completion.failure->stage + ": " + completion.failure->reason;
    if (completion.failure->kind == ErrorKind::device_lost) {
      if (lost_.empty()) loss_ = std::move(reason);
      lost_.push_back(completion.loan->sequence);
    } else {
      fail(Settlement::Kind::fail, std::move(reason));
    }
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

Settlement OpenedLease::settlement(Attribution const* found) const {
  std::lock_guard const lock(mutex_);
  if (!lost_.empty() && (found == nullptr || !is_innocent(*found))) return of(Settlement::Kind::suspect, loss_);
  if (kind_ == Settlement::Kind::fail && !blameless_) return of(Settlement::Kind::fail, reason_);
  bool const is_done = kind_ == Settlement::Kind::acknowledge && lost_.empty();
  return of(is_done ? Settlement::Kind::acknowledge : Settlement::Kind::give_back, {});
}

bool OpenedLease::is_suspect() const {
  std::lock_guard const lock(mutex_);
  return !lost_.empty();
}

Settlement OpenedLease::of(Settlement::Kind kind, std::string reason) const {
  return {.kind = kind, .number = lease_.number, .tries = lease_.tries, .text = std::move(reason)};
}

bool OpenedLease::is_innocent(Attribution const& found) const {
  return std::ranges::all_of(lost_,
                             [&](std::uint64_t tile) { return std::ranges::binary_search(found.innocent, tile); });
}

/// A failure counts for more than a tile that was cancelled; of failures the first counts.
void OpenedLease::fail(Settlement::Kind kind, std::string reason) {
  if (kind_ == Settlement::Kind::fail || kind == kind_) return;
  kind_ = kind;
  reason_ = std::move(reason);
}

}  // namespace penstock
