// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/operation.hpp"
#include "penstock/clock.hpp"

namespace penstock::cpu {

/// State that the Timeline of a modelled GPU keeps of an operation.
struct Modelled final : OperationTime {
  void renew() noexcept override { *this = {}; }

  bool may_begin = false;
  Clock::time_point ready;  ///< Time at which it may begin, if that is not at once.
  bool due = false;         ///< A callback may be called.
  bool held = false;        ///< It is done, and what is behind it waits for its end.
  bool awaited = false;     ///< Its end has come, and its work was not done yet.
  Clock::time_point begin = Clock::time_point::max();
  /// The kind of work that ended last before it; `wait` for none. Between a copy and a kernel passes a handover.
  Request::Kind behind = Request::Kind::wait;
  Clock::time_point end, done_at;  ///< Times at which it is over there, and at which its work was done here.
  double left = 0;                 ///< Nanoseconds that what it does now would take alone.
  double rate = 1;                 ///< Part of that which passes in a nanosecond.
  double share = 0;                ///< Part of the multiprocessors, for a kernel.
  double reads = 0;                ///< GB/s that a kernel would take of the link upwards, if it had the link alone,
  double writes = 0;               ///< and downwards.
  double memory = 0;               ///< GB/s of the device's memory that it would take, if it had that alone.
  double wave = 0;                 ///< Nanoseconds of each part of a kernel in which the GPU does nothing more urgent,
  unsigned waves = 0;              ///< and how many parts there are behind this one.
  Operation* signals_with = nullptr;  ///< The kernel, not over, with whose end the end of this one is told,
  Operation* signals_for = nullptr;   ///< and the reverse.
  bool computed = false;              ///< A kernel is at its end, told or not.
  Operation* next = nullptr;
};

inline Modelled& modelled(Operation& operation) noexcept {
  return static_cast<Modelled&>(*operation.time);
}
inline Modelled const& modelled(Operation const& operation) noexcept {
  return static_cast<Modelled const&>(*operation.time);
}

/// False for what is over as it begins.
inline bool takes_time(Operation const& operation) noexcept {
  Request::Kind const kind = operation.request.kind;
  return is_copy(operation) || kind == Request::Kind::kernel || kind == Request::Kind::callback;
}
/// Nanoseconds until its end, at the rate that it has now.
inline double time_left(Operation const& operation) noexcept {
  return modelled(operation).left / modelled(operation).rate;
}

/// A queue, first come, first served, linked through the operations.
class OperationLine {
 public:
  Operation* front() const noexcept { return first_; }
  void push(Operation& operation) noexcept {
    modelled(operation).next = nullptr;
    (last_ != nullptr ? modelled(*last_).next : first_) = &operation;
    last_ = &operation;
  }
  void push_front(Operation& operation) noexcept {
    modelled(operation).next = first_;
    first_ = &operation;
    if (last_ == nullptr) last_ = &operation;
  }
  Operation* pop() noexcept {
    Operation* const operation = first_;
    if (operation == nullptr) return nullptr;
    first_ = modelled(*operation).next;
    if (first_ == nullptr) last_ = nullptr;
    return operation;
  }

 private:
  Operation* first_ = nullptr;
  Operation* last_ = nullptr;
};

}  // namespace penstock::cpu
