// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "penstock/cpu/operation.hpp"

namespace penstock::cpu {

/// Where the threads of each engine sleep.
using Arrivals = std::array<std::condition_variable, engine_count>;

/// The scheduler's mutex, held; and what to do as soon as it is not.
///
/// Threads: the one that made it.
class Turn {
 public:
  Turn(std::mutex& mutex, Arrivals& arrived) : arrived_(arrived), lock_(mutex) {}
  Turn(Turn const&) = delete;
  Turn& operator=(Turn const&) = delete;
  ~Turn() {
    lock_.unlock();
    // Engines are woken without the mutex, which they need first of all. Kernels that never ran die here too, because
    // what they captured may have a destructor that calls the device.
    notify();
  }
  /// Wakes that many threads of an engine once the mutex is free.
  void wake(Engine engine, std::uint64_t threads) { wake_[index_of(engine)] += threads; }
  /// Destroys a kernel once the mutex is free.
  void bury(CpuKernel&& kernel) {
    if (kernel) dead_.push_back(std::move(kernel));
  }
  template <class Ready>
  void wait(std::condition_variable& changed, Ready ready) {
    notify();
    changed.wait(lock_, ready);
  }

 private:
  void notify() noexcept {
    for (std::size_t i = 0; i < engine_count; ++i) {
      auto const threads = std::exchange(wake_[i], 0);
      if (threads == 1) arrived_[i].notify_one();
      if (threads > 1) arrived_[i].notify_all();
    }
  }

  Arrivals& arrived_;
  std::vector<CpuKernel> dead_;
  std::array<std::uint64_t, engine_count> wake_{};
  std::unique_lock<std::mutex> lock_;
};

}  // namespace penstock::cpu
