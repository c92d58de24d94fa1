// SPDX-License-Identifier: Apache-2.0
// What BasicDepartures does for the thread that watches the clock, for departures.cpp and for a test on other atomics.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "penstock/records/departures.hpp"

namespace penstock {

template <class Atomics>
std::optional<std::chrono::steady_clock::time_point> BasicDepartures<Atomics>::send_late(
    Clock::time_point now) noexcept {
  std::optional<Clock::time_point> next;
  for (Desk* desk = first_.load(std::memory_order_seq_cst); desk != nullptr; desk = desk->next) {
    Pack const* const pack = desk->pack.load(std::memory_order_seq_cst);
    if (pack == nullptr) continue;
    Clock::time_point const late = Clock::time_point(Clock::duration(desk->since.load(std::memory_order_relaxed))) +
                                   std::chrono::duration_cast<Clock::duration>(linger_);
    bool const is_late = late <= now;
    if (pack != &desk->at_work) {
      if (is_late) {
        send_from(*desk, Departure::late);
      } else {
        next = std::min(next.value_or(Clock::time_point::max()), late);
      }
      continue;
    }
    if (!is_late && !desk->claim.is_wanted()) {
      next = std::min(next.value_or(Clock::time_point::max()), late);
      continue;
    }
    // Seq_cst: either the writer that opens a claim finds this, or we find the claim.
    if (is_late) desk->overdue.store(true, std::memory_order_seq_cst);
    // Only what lies beside a claim: the time belongs to what the writer has, not to what it may put down meanwhile.
    send_claimed(*desk, is_late ? Departure::late : Departure::hungry);
    if (desk->claim.is_wanted()) next = std::min(next.value_or(Clock::time_point::max()), now + between_looks);
  }
  return next;
}

template <class Atomics>
void BasicDepartures<Atomics>::watch() noexcept {
  while (!watch_over_.load(std::memory_order_seq_cst)) {
    look_again_.store(false, std::memory_order_seq_cst);
    auto const now = Clock::now();
    if (auto const next = send_late(now)) {
      bell_.await(
          [&] { return watch_over_.load(std::memory_order_seq_cst) || look_again_.load(std::memory_order_seq_cst); },
          {}, *next - now);
      continue;
    }
    auto const key = bell_.prepare();
    // Seq_cst, as is the look at it after a pack is put down: either that thread rings, or we find the pack.
    watch_asleep_.store(true, std::memory_order_seq_cst);
    if (watch_over_.load(std::memory_order_seq_cst) || send_late(Clock::now())) {
      bell_.cancel();
    } else {
      bell_.wait(key, until_rung);
    }
    watch_asleep_.store(false, std::memory_order_seq_cst);
  }
}

template <class Atomics>
void BasicDepartures<Atomics>::end_watch() noexcept {
  watch_over_.store(true, std::memory_order_seq_cst);
  bell_.notify();
}

}  // namespace penstock
