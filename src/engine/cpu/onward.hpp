// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "engine/core/rundown.hpp"

namespace penstock::cpu {

class Scheduler;
class SharedEvent;
struct Operation;

/// News to tell once an operation has passed: that a wait on another device need wait for it no more, or that an
/// event of several processes was passed. It is a list, linked through itself, so that nothing is allocated when it is
/// handed on.
struct Onward {
  std::shared_ptr<Rundown> visits;  ///< Closed once the scheduler may be called no more.
  Scheduler* scheduler = nullptr;
  Operation* wait = nullptr;
  std::uint64_t number = 0;  ///< Number of the wait: one that ended with its device may have become another operation.
  std::shared_ptr<SharedEvent> recorded;  ///< The event, and not a scheduler, is told of its record of that number.
  std::unique_ptr<Onward> next;
};

/// Tells all of them.
///
/// Threads: one that holds the mutex of no scheduler, so that none ever holds two.
void tell_onward(std::unique_ptr<Onward> all) noexcept;

}  // namespace penstock::cpu
