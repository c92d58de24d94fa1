// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "engine/core/own_process.hpp"
#include "engine/cuda/check.hpp"

namespace penstock::cuda {

/// The state of one device: alive, or lost to the first sticky fault that any thread saw.
///
/// Threads: any.
class Health {
 public:
  Health() = default;
  Health(Health const&) = delete;
  Health& operator=(Health const&) = delete;

  /// Throws as cuda::check, and remembers a sticky fault. On a lost device each refusal names the fault that ended it.
  ///
  /// Throws: Error.
  void check(cudaError_t result, char const* what, CallSite where = CallSite::here()) {
    if (result == cudaSuccess && !abandoned()) [[likely]]
      return;
    fail(result, what, where);
  }
  /// False if `result` is cudaErrorNotReady, true if success, and otherwise as `check`.
  bool ready(cudaError_t result, char const* what, CallSite where = CallSite::here());
  /// Throws the fault that ended the device, if one is known: `what` came too late.
  ///
  /// Throws: Error.
  void expect_alive(char const* what) const;
  /// The device is lost for `why`, unless it is lost already, and no thread waits for it any more.
  void abandon(Error const& why);
  /// True if nothing that the device uses may be given back, and no call may be made that waits for it.
  ///
  /// Acquire: a thread that sees true also sees why.
  bool abandoned() const noexcept { return abandoned_.load(std::memory_order_acquire); }
  /// True if a destructor must leave to the driver what it owns: the device was abandoned, or this is a child of fork,
  /// which may not use CUDA.
  bool leaves_all() const noexcept { return abandoned() || !process_.is_current(); }
  /// Throws if the device was abandoned; for a call that would wait for it, or hand it memory.
  ///
  /// Throws: Error.
  void expect_waited_for(char const* what) const {
    if (abandoned()) [[unlikely]]
      expect_alive(what);
  }
  /// Reports as cuda::report, but a lost device once, not for each thing that dies with it.
  void report(cudaError_t result, char const* what, CallSite where = CallSite::here()) noexcept;
  /// Remembers a sticky fault, and lets everything else pass.
  void note(cudaError_t result, char const* what, CallSite where = CallSite::here()) noexcept;
  /// Remembers what a stream answered that belongs to the device itself: a sticky fault, or that there is no such
  /// stream. The device's context is gone then, as after cudaDeviceReset, and every later call is refused.
  void note_answer(cudaError_t result, char const* what, CallSite where = CallSite::here()) noexcept;
  /// The Error that `last`, the thread's last error as CUDA had kept it, tells of code that checked no answer; nothing
  /// if it is success or "not yet". Remembers a sticky fault.
  std::optional<Error> left_behind(cudaError_t last);

  /// The first sticky fault, if there was one.
  std::optional<Error> fault() const;

 private:
  /// Call it with the mutex held and a fault known.
  Error too_late(char const* what) const;
  [[noreturn]] void fail(cudaError_t result, char const* what, CallSite where);

  OwnProcess const process_{};
  std::mutex mutable mutex_;
  std::optional<Error> fault_;
  bool reported_ = false;
  std::atomic<bool> abandoned_{false};
};

}  // namespace penstock::cuda
