// SPDX-License-Identifier: Apache-2.0
#include "c/lent_source.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "penstock/error.hpp"

namespace penstock::c {

LentSource::LentSource(std::size_t tiles, std::size_t tile_bytes, std::size_t most, std::stop_token stop)
    : tile_bytes_(tile_bytes), most_(std::max<std::size_t>(most, 1)), stop_(std::move(stop)), pieces_(tiles) {
  if (tile_bytes == 0) throw Error(ErrorKind::bad_argument, "Tiles without bytes hold no buffer: set input_bytes.");
  back_.reserve(2 * most_);
}

bool LentSource::next(Tile& tile) {
  std::unique_lock lock(mutex_);
  source_waits_ = true;
  comes_.wait(lock, stop_, [&] { return !waiting_.empty() || ended_; });
  source_waits_ = false;
  if (stop_.stop_requested() || waiting_.empty()) return false;
  std::shared_ptr<Lent> lent = waiting_.front();
  std::size_t const bytes = std::min(tile_bytes_, lent->bytes.size() - lent->next);
  pieces_[tile.index()] = {lent, lent->bytes.subspan(lent->next, bytes)};
  tile.tag = lent->tag;
  lent->next += bytes;
  if (lent->next == lent->bytes.size()) {
    waiting_.pop_front();
    // Lenders are woken for many buffers at once: a wake costs more than a copy.
    if (lenders_waiting_ > 0 && waiting_.size() <= most_ / 2) goes_.notify_all();
  }
  return true;
}

std::size_t LentSource::fill(Tile& tile) {
  Piece const piece = std::exchange(pieces_[tile.index()], {});
  if (!piece.bytes.empty()) std::memcpy(tile.input().data(), piece.bytes.data(), piece.bytes.size());
  if (piece.of->left.fetch_sub(1, std::memory_order_acq_rel) == 1) give_back(*piece.of);
  return piece.bytes.size();
}

bool LentSource::lend(std::span<std::byte const> bytes, std::uint64_t tag, void* handle,
                      std::optional<std::chrono::nanoseconds> at_most) {
  auto lent = std::make_shared<Lent>();
  lent->bytes = bytes;
  lent->tag = tag;
  lent->handle = handle;
  lent->left = std::max<std::size_t>((bytes.size() + tile_bytes_ - 1) / tile_bytes_, 1);
  std::unique_lock lock(mutex_);
  if (waiting_.size() >= most_ && !is_closed()) {
    auto const has_room = [&] { return waiting_.size() <= most_ / 2 || ended_; };
    ++lenders_waiting_;
    constexpr std::chrono::hours years{24 * 365};
    bool const came = at_most && *at_most < years ? goes_.wait_for(lock, stop_, *at_most, has_room)
                                                  : goes_.wait(lock, stop_, has_room);
    --lenders_waiting_;
    if (!came && !is_closed()) return false;
  }
  if (is_closed())
    throw Error(ErrorKind::ended, "The pipeline takes no more buffers: it was stopped or drained, or its input ended.");
  waiting_.push_back(std::move(lent));
  bool const wakes = source_waits_;
  lock.unlock();
  if (wakes) comes_.notify_one();
  return true;
}

void LentSource::give_back(Lent const& lent) {
  std::scoped_lock const lock(back_mutex_);
  back_.push_back(lent.handle);
}

std::size_t LentSource::take_back(std::span<void*> handles) {
  std::scoped_lock const lock(back_mutex_);
  std::size_t const count = std::min(handles.size(), back_.size());
  std::copy(back_.end() - static_cast<std::ptrdiff_t>(count), back_.end(), handles.begin());
  back_.resize(back_.size() - count);
  return count;
}

void LentSource::give_back_rest() {
  std::set<std::shared_ptr<Lent>> rest;
  {
    std::scoped_lock const lock(mutex_);
    ended_ = true;
    for (auto& lent : std::exchange(waiting_, {})) rest.insert(std::move(lent));
    for (Piece& piece : pieces_) {
      if (auto of = std::exchange(piece, {}).of) rest.insert(std::move(of));
    }
  }
  goes_.notify_all();
  for (auto const& lent : rest) give_back(*lent);
}

void LentSource::end() {
  {
    std::scoped_lock const lock(mutex_);
    ended_ = true;
  }
  comes_.notify_all();
  goes_.notify_all();
}

}  // namespace penstock::c
