// SPDX-License-Identifier: Apache-2.0
#include "penstock/core/rundown.hpp"

#include <algorithm>
#include <chrono>

namespace penstock {
namespace {

/// Another number for each thread.
std::size_t number_of_thread() noexcept {
  static std::atomic<std::size_t> next{0};
  thread_local std::size_t const number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace

std::atomic<std::uint64_t>* Rundown::enter() noexcept {
  auto& count = counts_[number_of_thread() % counts_.size()].inside;
  // All of one order: either we see that it is closed, or who closes sees us.
  count.fetch_add(1, std::memory_order_seq_cst);
  if (open_.load(std::memory_order_seq_cst)) return &count;
  leave(count);
  return nullptr;
}

void Rundown::leave(std::atomic<std::uint64_t>& count) noexcept {
  count.fetch_sub(1, std::memory_order_seq_cst);
  if (!open_.load(std::memory_order_seq_cst)) left_.notify();
}

bool Rundown::anybody_inside() const noexcept {
  return std::any_of(counts_.begin(), counts_.end(),
                     [](Count const& count) { return count.inside.load(std::memory_order_seq_cst) != 0; });
}

bool Rundown::close() {
  if (!open_.exchange(false, std::memory_order_seq_cst)) return false;
  while (anybody_inside()) {
    left_.await([&] { return !anybody_inside(); }, std::chrono::nanoseconds(0), std::chrono::hours(1));
  }
  return true;
}

}  // namespace penstock
