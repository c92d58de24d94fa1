// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "observe/cupti/stand_in.hpp"

/// The time by that stand-in for CUPTI; by the host, without one or if it has no clock.
std::uint64_t now(StandIn const* cupti);

/// Begin and end of something.
struct When {
  std::uint64_t begin, end;
};

/// A stream of the stand-in for the driver, which does one thing after the other.
///
/// Threads: any.
class Stream {
 public:
  /// Takes what will be done once it is waited for, and when that is, if nothing else comes before.
  When add(std::uint64_t time, std::uint64_t length, std::function<void()> work);
  /// Does what it took.
  ///
  /// Blocks: until that is over.
  void finish(StandIn const* cupti);

 private:
  std::mutex mutex_;
  std::uint64_t free_at_ = 0;
  std::vector<std::function<void()>> work_;
};

/// The stream of that handle, which may be 0, where `per_thread` says which one that is.
Stream& stream_of(void* handle, bool per_thread);
/// The number of that stream as CUPTI has it.
std::uint32_t number_of(void* handle, bool per_thread);
/// Notes where an event was recorded last.
void record_event(void* event, Stream& stream);
/// Has a stream do first all that the stream has to do in which the event was recorded.
///
/// Shape: that stream is still there when this one is waited for.
void wait_for_event(Stream& stream, void* event, StandIn const* cupti);
