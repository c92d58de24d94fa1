// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <utility>

#include "penstock/stream.hpp"

namespace penstock {

/// The first exception in the work that is attributed to it (StreamRef::attribute).
///
/// Threads: `note` and `failed` any; the rest one, once the device has passed that work.
class WorkFailure {
 public:
  WorkFailure() = default;
  WorkFailure(WorkFailure const&) = delete;
  WorkFailure& operator=(WorkFailure const&) = delete;

  void note(std::exception_ptr thrown) noexcept {
    // Relaxed: of several threads that come here one continues, and only that one writes.
    State expected = State::none;
    if (!state_.compare_exchange_strong(expected, State::being_noted, std::memory_order_relaxed)) return;
    thrown_ = std::move(thrown);
    // Release, and acquire in `failed`: a thread that sees that a failure is noted sees which.
    state_.store(State::noted, std::memory_order_release);
  }
  bool failed() const noexcept { return state_.load(std::memory_order_acquire) == State::noted; }
  /// Throws: what was noted, if anything.
  void rethrow() const {
    if (failed()) std::rethrow_exception(thrown_);
  }
  void clear() noexcept {
    thrown_ = nullptr;
    state_.store(State::none, std::memory_order_relaxed);
  }

 private:
  enum class State : std::uint8_t { none, being_noted, noted };
  std::atomic<State> state_{State::none};
  std::exception_ptr thrown_;
};

/// While it lives, what its thread launches in the stream is attributed to `failure`.
///
/// Threads: one.
class AttributedHere {
 public:
  AttributedHere(StreamRef stream, WorkFailure& failure) : stream_(stream) { stream_.attribute(&failure); }
  AttributedHere(AttributedHere const&) = delete;
  AttributedHere& operator=(AttributedHere const&) = delete;
  ~AttributedHere() { stream_.attribute(nullptr); }

 private:
  StreamRef const stream_;
};

}  // namespace penstock
