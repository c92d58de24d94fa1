// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/lanes_bring.hpp"

namespace penstock {

void LanesBring::begin(BringsTiles& producers) {
  std::scoped_lock const lock(mutex_);
  inside_.open();
  producers_.store(&producers, std::memory_order_release);
  if (going_ == 0) producers.all_ended();
}

void LanesBring::end() {
  inside_.close();
  std::scoped_lock const lock(mutex_);
  producers_.store(nullptr, std::memory_order_release);
}

bool LanesBring::bring(unsigned lane) noexcept {
  Rundown::Pass const in(inside_);
  return in && producers_.load(std::memory_order_acquire)->bring(lane);
}

void LanesBring::leave() noexcept {
  std::scoped_lock const lock(mutex_);
  if (--going_ != 0) return;
  if (BringsTiles* const producers = producers_.load(std::memory_order_relaxed)) producers->all_ended();
}

}  // namespace penstock
