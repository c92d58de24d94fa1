// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "penstock/error.hpp"

namespace penstock::cpu {

/// Refusals that no call has told, until the thread that met one asks: what CUDA calls a thread's last error.
///
/// Threads: any.
class Refusals {
 public:
  /// Keeps it for the calling thread, instead of an earlier one.
  void leave(Error refusal) {
    std::lock_guard const lock(mutex_);
    kept_.insert_or_assign(std::this_thread::get_id(), std::move(refusal));
    count_.store(kept_.size(), std::memory_order_relaxed);
  }
  /// Takes the refusal that was left for the calling thread, if any.
  std::optional<Error> take() {
    // Relaxed: while this thread's refusal is kept, no store since then can have been of 0.
    if (count_.load(std::memory_order_relaxed) == 0) return std::nullopt;
    std::lock_guard const lock(mutex_);
    auto const mine = kept_.extract(std::this_thread::get_id());
    count_.store(kept_.size(), std::memory_order_relaxed);
    return mine ? std::optional(mine.mapped()) : std::nullopt;
  }

 private:
  /// Number of refusals kept, so that asking a device without any takes no lock.
  std::atomic<std::size_t> count_{0};
  std::mutex mutex_;
  std::map<std::thread::id, Error> kept_;
};

}  // namespace penstock::cpu
