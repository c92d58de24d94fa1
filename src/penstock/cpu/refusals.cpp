// SPDX-License-Identifier: Apache-2.0
#include "penstock/cpu/refusals.hpp"

#include <utility>

namespace penstock::cpu {

void Refusals::leave(Error refusal) {
  std::lock_guard const lock(mutex_);
  kept_.insert_or_assign(std::this_thread::get_id(), std::move(refusal));
  count_.store(kept_.size(), std::memory_order_relaxed);
}

std::optional<Error> Refusals::take() {
  // Relaxed: while this thread's refusal is kept, no store since then can have been of 0.
  if (count_.load(std::memory_order_relaxed) == 0) return std::nullopt;
  std::lock_guard const lock(mutex_);
  auto const mine = kept_.extract(std::this_thread::get_id());
  count_.store(kept_.size(), std::memory_order_relaxed);
  return mine ? std::optional(mine.mapped()) : std::nullopt;
}

}  // namespace penstock::cpu
