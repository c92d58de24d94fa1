// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/tile_group.hpp"

#include "engine/core/number_text.hpp"

namespace penstock {

void TilesHome::tell(std::function<void()> told) {
  std::unique_lock lock(mutex_);
  left_.wait(lock, [this] { return inside_ == 0; });
  told_ = std::move(told);
}

void TilesHome::tile_came() noexcept {
  {
    std::lock_guard const lock(mutex_);
    if (told_ == nullptr) return;
    ++inside_;
  }
  told_();
  std::lock_guard const lock(mutex_);
  if (--inside_ == 0) left_.notify_all();
}

TileGroup TileGroup::of(std::shared_ptr<TilesHome> const& home, Loan loan) {
  auto state = std::make_unique<State>();
  state->tiles.emplace_back(std::make_shared<SharedLoan>(home, std::move(loan)));
  return TileGroup(state.release());
}

TileGroup::TileGroup(TileGroup const& other) noexcept : state_(other.state_) {
  if (state_ != nullptr) state_->add_holder();
}

TileGroup::~TileGroup() {
  if (state_ != nullptr && state_->remove_holder()) delete state_;
}

void TileGroup::take() const noexcept {
  if (state_ != nullptr) state_->take();
}

std::size_t TileGroup::size() const noexcept {
  take();
  return state_ == nullptr ? 0 : state_->tiles.size();
}

Completion& TileGroup::at(std::size_t which) const {
  if (which >= size()) {
    throw Error(ErrorKind::bad_argument, "There is no tile " + std::to_string(which) + " in a message of " +
                                             count_text(size(), "tile") + ": count from 0 to size().");
  }
  return state_->tiles[which].completion();
}

TileGroup TileGroup::one(std::size_t which) const {
  static_cast<void>(at(which));
  auto state = std::make_unique<State>();
  state->tiles.push_back(state_->tiles[which]);
  return TileGroup(state.release());
}

TileGroup TileGroup::again() const {
  auto state = std::make_unique<State>();
  state->tiles.reserve(size());
  for (std::size_t which = 0; which < size(); ++which) state->tiles.emplace_back(state_->tiles[which].shared());
  return TileGroup(state.release());
}

void TileGroup::append(TileGroup const& other) {
  auto state = std::make_unique<State>();
  state->tiles.reserve(size() + other.size());
  for (TileGroup const* const group : {static_cast<TileGroup const*>(this), &other}) {
    for (std::size_t which = 0; which < group->size(); ++which) state->tiles.push_back(group->state_->tiles[which]);
  }
  *this = TileGroup(state.release());
}

}  // namespace penstock
