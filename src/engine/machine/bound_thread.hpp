// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>

#include "engine/machine/cpu_set.hpp"

namespace penstock {

/// A thread with a name and CPUs of its own, which is asked to stop and joined when this dies.
///
/// Threads: the owner's, but `request_stop` any.
class BoundThread {
 public:
  using Body = std::function<void(std::stop_token)>;

  /// Makes an object without a thread.
  BoundThread() noexcept;
  /// Starts `body` on a thread that runs on `cpus`; empty: wherever the calling thread may. The system shows (`top -H`)
  /// the first 15 characters of the name.
  ///
  /// Blocks: until the thread has taken its name and CPUs, some ten microseconds.
  /// Throws: Error of kind system, if the system refuses another thread. A binding that is refused does not throw: see
  /// binding_error().
  BoundThread(std::string name, CpuSet cpus, Body body);
  BoundThread(BoundThread&&) noexcept;
  BoundThread& operator=(BoundThread&& other) noexcept;
  /// Says by a message what escaped the body, if neither `join` nor `finish` asked for it.
  ///
  /// Blocks: until the body has returned.
  ~BoundThread();

  bool joinable() const noexcept { return thread_.joinable(); }
  void request_stop() noexcept { thread_.request_stop(); }
  std::string const& name() const noexcept;
  /// The reason why the thread does not run on its CPUs, or not on all of them. It runs nevertheless.
  std::optional<std::string> const& binding_error() const noexcept;

  /// The CPUs that it is bound to; empty if it is bound to none, or not to all that it should be.
  CpuSet const& bound_to() const noexcept;

  /// Waits for the end of the body; throws what escaped it. Does nothing if there is no thread to wait for.
  ///
  /// Blocks: until the body has returned.
  void join();
  /// Waits as `join` does, but returns what escaped the body.
  ///
  /// Blocks: until the body has returned.
  std::exception_ptr finish() noexcept;

 private:
  struct State;
  void end() noexcept;

  // The state is apart from this object, which may move while the thread runs. The thread dies first.
  std::unique_ptr<State> state_;
  std::jthread thread_;
};

/// Waits for the end of each of them; throws what escaped the first that did not end well.
///
/// Blocks: until all bodies have returned.
void join_all(std::span<BoundThread> threads);

/// From now on the calling thread's waits that end by the clock do so within some microseconds, where the system's
/// usual slack for timers adds fifty. What the system refuses stays as it is.
///
/// Threads: the one that it is for.
/// Blocks:  never.
void make_timers_precise() noexcept;

}  // namespace penstock
