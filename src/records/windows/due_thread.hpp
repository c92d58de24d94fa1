// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "engine/machine/bound_thread.hpp"
#include "penstock/clock.hpp"
#include "records/late_watch.hpp"

namespace penstock {

/// A thread that calls a function whenever work is due, and sleeps while none waits.
///
/// Threads: the owner's, but `wake` any.
class DueThread {
 public:
  using Time = Clock::time_point;
  /// Does the work that is due now, and returns the next time; empty if nothing waits. Must not throw.
  using Body = std::function<std::optional<Time>(Time now)>;

  /// Throws: Error of kind system, if the system refuses a thread.
  DueThread(std::string const& name, Body body)
      : body_(std::move(body)), thread_(name, {}, [this](std::stop_token const&) { watch_.watch(body_); }) {}
  DueThread(DueThread const&) = delete;
  DueThread& operator=(DueThread const&) = delete;
  /// Blocks: while the body runs.
  ~DueThread() { watch_.end(); }

  /// Announces new work; it is due no earlier than the work that waited already.
  void wake() noexcept { watch_.wake(); }

 private:
  Body const body_;
  BasicLateWatch<> watch_;
  BoundThread thread_;
};

}  // namespace penstock
