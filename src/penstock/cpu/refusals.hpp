// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "penstock/error.hpp"

namespace penstock::cpu {

/// Refusals that no call has told, until the thread that met one asks: what CUDA calls a thread's last error.
///
/// Threads: any.
class Refusals {
 public:
  /// Keeps it for the calling thread, instead of an earlier one.
  void leave(Error refusal);
  /// What was left for the calling thread, which is forgotten then.
  std::optional<Error> take();

 private:
  /// How many are kept, so that asking a device without any takes no lock.
  std::atomic<std::size_t> count_{0};
  std::mutex mutex_;
  std::map<std::thread::id, Error> kept_;
};

}  // namespace penstock::cpu
