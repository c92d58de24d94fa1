// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "penstock/error.hpp"

namespace penstock::cpu {

/// Faults that a CPU device can be told to have. Each strikes one call, chosen by its number among calls of its kind.
enum class Fault : std::uint8_t {
  refuse_upload,    ///< The call throws Error of kind device_refused; nothing was queued, the device is healthy. A copy
                    ///< from device to device counts as an upload.
  refuse_download,  ///< Throws as refuse_upload does.
  refuse_launch,    ///< Throws as refuse_upload does.
  refuse_call,      ///< Throws as refuse_upload does: a stream's call, host function or write of a flag.
  refuse_record,    ///< Throws as refuse_upload does.
  refuse_wait,      ///< Throws as refuse_upload does: a stream's wait for an event.
  refuse_query,     ///< Throws as refuse_upload does: the question whether an event was passed, or a stream is idle.
  refuse_capture,   ///< Throws as refuse_upload does: the end of a capture, which then gives no capture.
  drop_launch,      ///< Nothing was queued and nothing is thrown: only Device::take_refusal tells.
  break_upload,     ///< Copies nothing and loses the device once an engine gets to it: a sticky fault.
  break_download,   ///< Does the same as break_upload.
  break_kernel,     ///< Runs no block and loses the device once a compute thread gets to it.
  late_callback,    ///< Is not called, and holds its stream, until the late callbacks are delivered.
  early_callback,   ///< Is called at once, by the thread that put it in, and not when its stream gets there.
  double_callback,  ///< Is called twice in a row, with the same status.
  lost_callback,    ///< Is never called; its stream continues as if it had been.
  stray_callback,   ///< Is called once, but from a compute thread.
  false_alarm,      ///< Is told that something failed, though nothing has; a host function is told nothing.
  false_loss,       ///< Is told falsely that the device is lost; a host function is told nothing.
  lost_write,       ///< The flag keeps its number; the stream continues.
  early_write,      ///< The flag has the number at once, before the stream's earlier operations are done.
  late_wakeup,      ///< A host that waits for an event is not woken until the late callbacks are delivered.
  early_wakeup,     ///< It does not wait.
  false_wakeup,     ///< It does not wait, and is told by an Error of kind device_refused that something failed.
  fail_allocation,  ///< Error of kind out_of_device_memory, however much is free.
  fail_pin,         ///< Error of kind out_of_pinned_memory, however much is left.
};

/// Decides which calls of a device go wrong.
///
/// Threads: any.
class FaultHook {
 public:
  FaultHook() = default;
  FaultHook(FaultHook const&) = delete;
  FaultHook& operator=(FaultHook const&) = delete;
  virtual ~FaultHook() = default;
  /// Tells of a call that `what` could strike. True if it does.
  virtual bool strikes(Fault what) noexcept = 0;
};

/// The points where calls of a device ask its hook. Each shares the hook, since some calls may outlive the device.
/// Without a hook no call goes wrong.
class FaultPoints {
 public:
  explicit FaultPoints(std::shared_ptr<FaultHook> hook) noexcept : hook_(std::move(hook)) {}

  bool strikes(Fault what) const noexcept { return hook_ != nullptr && hook_->strikes(what); }
  /// Asks `strikes`, for a fault that refuses, and throws if it does. `request` is what the device refuses.
  ///
  /// Throws: Error of kind device_refused.
  void refuse(Fault what, char const* request) const {
    if (strikes(what)) throw refusal(request);
  }
  static Error refusal(char const* request) {
    return Error(ErrorKind::device_refused, std::string("The CPU device refused ") + request + " (injected).");
  }

 private:
  std::shared_ptr<FaultHook> hook_;
};

}  // namespace penstock::cpu
