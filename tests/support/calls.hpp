// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "penstock/stream.hpp"

namespace penstock::support {

/// Facts that a callback saw when it was called.
struct Call {
  int number = 0;
  StreamStatus status;
  std::thread::id thread;
};

/// Notes the calls of many callbacks in the order in which they came.
///
/// Threads: any.
class Calls {
 public:
  void add(Call call) {
    std::lock_guard const lock(mutex_);
    calls_.push_back(call);
  }
  std::vector<Call> all() const {
    std::lock_guard const lock(mutex_);
    return calls_;
  }
  std::vector<int> numbers() const {
    std::vector<int> numbers;
    for (Call const& call : all()) numbers.push_back(call.number);
    return numbers;
  }
  std::size_t count() const { return all().size(); }
  /// Blocks: until there were that many.
  void await(std::size_t count_wanted) const {
    while (count() < count_wanted) std::this_thread::yield();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Call> calls_;
};

/// A callback with a number of its own, which notes each call. Allowed to lock and allocate because it is a test's.
class NotedCallback final : public StreamCallback {
 public:
  NotedCallback(Calls& calls, int number) : calls_(calls), number_(number) {}
  void called(StreamStatus status) noexcept override { calls_.add({number_, status, std::this_thread::get_id()}); }

 private:
  Calls& calls_;
  int number_;
};

}  // namespace penstock::support
