// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include "engine/core/atomics.hpp"
#include "penstock/clock.hpp"
#include "records/claim.hpp"
#include "records/pack.hpp"

namespace penstock {

/// Place of a writer's pack while the writer does other work, so that others can send it.
///
/// Threads: any, through Departures.
template <class Atomics = StandardAtomics>
struct alignas(64) BasicDesk {
  template <class Value>
  using Atomic = typename Atomics::template Atomic<Value>;

  Atomic<Pack*> pack{nullptr};  ///< Null for none; `&at_work` while the writer has it.
  /// Time at which the oldest record of the pack was put down, combined by `note` with a mark for too few bytes for
  /// hungry lanes.
  Atomic<Clock::rep> since{0};
  /// The clock's thread found the writer at work on a late pack, and left it to the writer.
  Atomic<bool> overdue{false};
  Atomic<bool> taken{true};
  BasicClaim<Atomics> claim;  ///< Claim on the writer's pack, while it fills room there.
  BasicDesk* next = nullptr;  ///< Constant once others see this desk.
  Pack at_work;               ///< Only its address is used.

  /// Combines a time with a mark in its last bit, which is set if the pack has too few bytes for hungry lanes: one
  /// store publishes both.
  static Clock::rep note(Clock::time_point since, bool too_little) noexcept {
    return (since.time_since_epoch().count() & ~Clock::rep{1}) | Clock::rep{too_little};
  }
  static bool is_too_little(Clock::rep note) noexcept { return (note & 1) != 0; }

  /// Takes the pack on the desk, or the records beside the open claim; null if there is nothing, or the writer has it.
  /// `divide` is the `move` of BasicClaim::divide.
  template <class Divide>
  Pack* take_pack(Divide const& divide) noexcept {
    Pack* lying = pack.load(std::memory_order_seq_cst);
    // The writer may take it meanwhile; then the writer sends it.
    while (lying != nullptr && lying != &at_work) {
      if (pack.compare_exchange_weak(lying, nullptr, std::memory_order_seq_cst, std::memory_order_seq_cst))
        return lying;
    }
    if (lying == nullptr) return nullptr;
    return claim.divide(divide);
  }
};

using Desk = BasicDesk<>;

/// All desks of some writers. A desk that is given back is used again, and lives as long as this object.
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

  /// Takes a desk that no writer has, until its `taken` is false again.
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

  /// The first desk; the others follow by `next`; null if there is none.
  Desk* first() const noexcept { return first_.load(std::memory_order_seq_cst); }

  /// The desk of the records that wait longest, on it or beside an open claim, among those that suffice for hungry
  /// lanes; null if there are none.
  Desk* oldest() const noexcept {
    Desk* found = nullptr;
    Clock::rep since = 0;
    for (Desk* desk = first_.load(std::memory_order_seq_cst); desk != nullptr; desk = desk->next) {
      Pack const* const pack = desk->pack.load(std::memory_order_seq_cst);
      if (pack == nullptr || (pack == &desk->at_work && !desk->claim.is_open())) continue;
      // Relaxed: if the pack changes meanwhile, a younger one leaves first, once; and its writer checks again itself.
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
