// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include "penstock/clock.hpp"
#include "penstock/core/atomics.hpp"
#include "penstock/records/claim.hpp"
#include "penstock/records/pack.hpp"

namespace penstock {

/// Where a writer's pack lies while the writer is elsewhere, so that others can send it.
///
/// Threads: any, through Departures.
template <class Atomics = StandardAtomics>
struct alignas(64) BasicDesk {
  template <class Value>
  using Atomic = typename Atomics::template Atomic<Value>;

  Atomic<Pack*> pack{nullptr};  ///< Null for none; `&at_work` while the writer has it.
  /// When the oldest record of the pack was put down, and whether it is too little for hungry lanes, as `note` has it.
  Atomic<Clock::rep> since{0};
  /// The clock found that the writer was at work on a pack that is late, and left it to the writer.
  Atomic<bool> overdue{false};
  Atomic<bool> taken{true};
  BasicClaim<Atomics> claim;  ///< On the pack that the writer has, while it fills room there.
  BasicDesk* next = nullptr;  ///< Never changes once others see this one.
  Pack at_work;               ///< Never used but for its address.

  /// A time but for its last bit, which is set if the pack is too little for hungry lanes: so one store tells of both.
  static Clock::rep note(Clock::time_point since, bool too_little) noexcept {
    return (since.time_since_epoch().count() & ~Clock::rep{1}) | Clock::rep{too_little};
  }
  static bool is_too_little(Clock::rep note) noexcept { return (note & 1) != 0; }

  /// What lies here, or beside the open claim, now the caller's; null if there is nothing, or the writer has it.
  /// `divide` is as the `move` of BasicClaim::divide.
  template <class Divide>
  Pack* take_pack(Divide const& divide) noexcept {
    Pack* lying = pack.load(std::memory_order_seq_cst);
    // The writer may take it up meanwhile; then it is the writer's to send.
    while (lying != nullptr && lying != &at_work) {
      if (pack.compare_exchange_weak(lying, nullptr, std::memory_order_seq_cst, std::memory_order_seq_cst))
        return lying;
    }
    if (lying == nullptr) return nullptr;
    return claim.divide(divide);
  }
};

using Desk = BasicDesk<>;

/// All desks of some writers. A desk that is given back is lent again, and lives as long as this.
///
/// Threads: any.
template <class Atomics = StandardAtomics>
class BasicDesks {
 public:
  using Desk = BasicDesk<Atomics>;

  BasicDesks() = default;
  BasicDesks(BasicDesks const&) = delete;
  BasicDesks& operator=(BasicDesks const&) = delete;
  /// No writer may be left.
  ~BasicDesks() {
    for (Desk* desk = first_.load(std::memory_order_acquire); desk != nullptr;) {
      std::unique_ptr<Desk> const gone(std::exchange(desk, desk->next));
    }
  }

  /// One that no writer has, until its `taken` is false again.
  ///
  /// Throws: std::bad_alloc.
  Desk& take_desk() {
    for (Desk* desk = first_.load(std::memory_order_acquire); desk != nullptr; desk = desk->next) {
      if (!desk->taken.exchange(true, std::memory_order_acquire)) return *desk;
    }
    auto made = std::make_unique<Desk>();
    made->next = first_.load(std::memory_order_relaxed);
    while (
        !first_.compare_exchange_weak(made->next, made.get(), std::memory_order_seq_cst, std::memory_order_relaxed)) {
    }
    return *made.release();
  }

  /// The others are behind its `next`; null if there is none.
  Desk* first() const noexcept { return first_.load(std::memory_order_seq_cst); }

  /// That of the records that wait longest, on the desk or beside an open claim, of those that are enough for
  /// hungry lanes; null if there are none.
  Desk* oldest() const noexcept {
    Desk* found = nullptr;
    Clock::rep since = 0;
    for (Desk* desk = first_.load(std::memory_order_seq_cst); desk != nullptr; desk = desk->next) {
      Pack const* const pack = desk->pack.load(std::memory_order_seq_cst);
      if (pack == nullptr || (pack == &desk->at_work && !desk->claim.is_open())) continue;
      // Relaxed: if the pack changes meanwhile, a younger one leaves first, once; and its writer looks again itself.
      auto const own = desk->since.load(std::memory_order_relaxed);
      if (Desk::is_too_little(own)) continue;
      if (found == nullptr || own < since) {
        found = desk;
        since = own;
      }
    }
    return found;
  }

 private:
  typename Atomics::template Atomic<Desk*> first_{nullptr};
};

}  // namespace penstock
