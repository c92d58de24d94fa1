// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/cpu/cpu_device.hpp"
#include "engine/cpu/fault_hook.hpp"
#include "penstock/error.hpp"

namespace penstock::cpu {

/// The calls of a device that shall go wrong.
///
/// Threads: any. Calls that race for a number are counted in some order; exactly one of them is struck.
class Faults final : public FaultHook {
 public:
  /// Lets the fault strike the `nth` call of its kind from now on; 1 is the next. May be armed many times over.
  ///
  /// Throws: Error, if nth is 0.
  void inject(Fault what, std::uint64_t nth) {
    if (nth == 0) throw Error(ErrorKind::bad_argument, "Calls are counted from 1: the next call is number 1, not 0.");
    std::lock_guard const lock(mutex_);
    armed_.push_back({what, nth});
    count_.store(armed_.size(), std::memory_order_relaxed);
  }
  /// Number of faults that have not struck yet.
  std::size_t armed() const noexcept { return count_.load(std::memory_order_relaxed); }
  /// Counts one call that `what` could strike, and says whether it does.
  bool strikes(Fault what) noexcept override {
    // Relaxed: a thread that injects for calls of another thread orders the two itself or accepts either answer.
    if (count_.load(std::memory_order_relaxed) == 0) return false;
    std::lock_guard const lock(mutex_);
    auto const struck =
        std::erase_if(armed_, [what](Armed& armed) { return armed.what == what && --armed.calls_left == 0; });
    count_.store(armed_.size(), std::memory_order_relaxed);
    return struck != 0;
  }

 private:
  struct Armed {
    Fault what;
    std::uint64_t calls_left;
  };
  /// Number of faults that are armed, so that a device without any takes no lock.
  std::atomic<std::size_t> count_{0};
  std::mutex mutex_;
  std::vector<Armed> armed_;
};

/// A CPU device with calls that go wrong as it is told.
///
/// Threads: any.
class FaultyCpuDevice final : public CpuDevice {
 public:
  /// Makes a CpuDevice; its options have no hook for faults.
  explicit FaultyCpuDevice(CpuOptions options = {}) : FaultyCpuDevice(std::make_shared<Faults>(), std::move(options)) {}

  /// Calls Faults::inject.
  void inject(Fault what, std::uint64_t nth = 1) { faults_->inject(what, nth); }
  std::size_t armed_faults() const noexcept { return faults_->armed(); }

 private:
  FaultyCpuDevice(std::shared_ptr<Faults> faults, CpuOptions options)
      : CpuDevice(with(faults, std::move(options))), faults_(std::move(faults)) {}
  static CpuOptions with(std::shared_ptr<Faults> const& faults, CpuOptions options) {
    options.faults = faults;
    return options;
  }

  std::shared_ptr<Faults> const faults_;
};

}  // namespace penstock::cpu
