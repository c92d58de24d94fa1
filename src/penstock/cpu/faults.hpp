// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "penstock/error.hpp"

namespace penstock::cpu {

/// What a CPU device can be told to do wrong. Each strikes one call, chosen by its number among the calls of its kind.
enum class Fault : std::uint8_t {
  refuse_upload,    ///< The call throws Error of kind device_refused; nothing was queued, the device is healthy. A copy
                    ///< from device to device counts as an upload.
  refuse_download,  ///< As refuse_upload.
  refuse_launch,    ///< As refuse_upload.
  refuse_call,      ///< As refuse_upload: a stream's call, host function or write of a flag.
  refuse_record,    ///< As refuse_upload.
  refuse_wait,      ///< As refuse_upload: a stream's wait for an event.
  refuse_query,     ///< As refuse_upload: the question whether an event was passed, or a stream is idle.
  refuse_capture,   ///< As refuse_upload: the end of a capture, which then gives no capture.
  drop_launch,      ///< Nothing was queued and nothing is thrown: only Device::take_refusal tells.
  break_upload,     ///< Copies nothing and loses the device once an engine gets to it: a sticky fault.
  break_download,   ///< As break_upload.
  break_kernel,     ///< Runs no block and loses the device once a compute thread gets to it.
  late_callback,    ///< Is not called, and holds its stream, until the late callbacks are delivered.
  early_callback,   ///< Is called at once, by the thread that put it in, and not when its stream gets there.
  double_callback,  ///< Is called twice in a row, with the same status.
  lost_callback,    ///< Is never called; its stream goes on as if it had been.
  stray_callback,   ///< Is called once, but from a compute thread.
  false_alarm,      ///< Is told that something failed, though nothing has; a host function is told nothing.
  false_loss,       ///< As false_alarm, but that the device is lost.
  lost_write,       ///< The flag keeps its number; the stream goes on.
  early_write,      ///< The flag has the number at once, before what the stream does first.
  late_wakeup,      ///< A host that waits for an event is not woken until the late callbacks are delivered.
  early_wakeup,     ///< It does not wait.
  false_wakeup,     ///< It does not wait, and is told by an Error of kind device_refused that something failed.
  fail_allocation,  ///< Error of kind out_of_device_memory, however much is free.
  fail_pin,         ///< Error of kind out_of_pinned_memory, however much is left.
};

/// Which calls of a device shall go wrong.
///
/// Threads: any. Calls that race for a number are counted in some order; exactly one of them is struck.
class Faults {
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
  /// How many have not struck yet.
  std::size_t armed() const noexcept { return count_.load(std::memory_order_relaxed); }
  /// Counts one call that `what` could strike, and says whether it does.
  bool strikes(Fault what) noexcept {
    // Relaxed: a thread that injects for calls of another thread orders the two itself or accepts either answer.
    if (count_.load(std::memory_order_relaxed) == 0) return false;
    std::lock_guard const lock(mutex_);
    auto const struck =
        std::erase_if(armed_, [what](Armed& armed) { return armed.what == what && --armed.calls_left == 0; });
    count_.store(armed_.size(), std::memory_order_relaxed);
    return struck != 0;
  }
  /// As `strikes`, for a fault that refuses: throws if it does. `request` is what the device refuses.
  ///
  /// Throws: Error of kind device_refused.
  void refuse(Fault what, char const* request) {
    if (strikes(what)) throw refusal(request);
  }
  static Error refusal(char const* request) {
    return Error(ErrorKind::device_refused, std::string("The CPU device refused ") + request + " (injected).");
  }

 private:
  struct Armed {
    Fault what;
    std::uint64_t calls_left;
  };
  /// How many are armed, so that a device without faults takes no lock.
  std::atomic<std::size_t> count_{0};
  std::mutex mutex_;
  std::vector<Armed> armed_;
};

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
  /// What was left for the calling thread, which is forgotten then.
  std::optional<Error> take() {
    // Relaxed: while this thread's refusal is kept, no store since then can have been of 0.
    if (count_.load(std::memory_order_relaxed) == 0) return std::nullopt;
    std::lock_guard const lock(mutex_);
    auto const mine = kept_.extract(std::this_thread::get_id());
    count_.store(kept_.size(), std::memory_order_relaxed);
    return mine ? std::optional(mine.mapped()) : std::nullopt;
  }

 private:
  /// How many are kept, so that asking a device without any takes no lock.
  std::atomic<std::size_t> count_{0};
  std::mutex mutex_;
  std::map<std::thread::id, Error> kept_;
};

}  // namespace penstock::cpu
