// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <new>
#include <optional>
#include <string>

#include "engine/cpu/operation.hpp"
#include "penstock/error.hpp"

namespace penstock::cpu {

/// The reason why a device is lost, if it is. The first cause counts.
///
/// Threads: under the scheduler's mutex, but `abandoned` and `cause` any.
class DeviceLoss {
 public:
  explicit operator bool() const noexcept { return why_.has_value(); }
  std::optional<Error> const& why() const noexcept { return why_; }
  /// Throws: Error, if the device is lost.
  void expect_none() const {
    if (why_) throw Error(*why_);
  }
  /// The status that callbacks are told.
  StreamStatus status() const noexcept { return {.ok = !why_, .sticky = why_.has_value(), .code = why_ ? code_ : 0}; }
  void note(Error const& why, int code) {
    why_ = why;
    code_ = code;
  }

  /// Says that the device is lost since `what` said `words`, if any.
  Error cause(char const* what, char const* words) const noexcept {
    try {
      std::string cause = what;
      if (words != nullptr) cause += std::string(" \"") + words + '"';
      return {ErrorKind::device_lost, "The CPU device is lost: " + cause + ". End this run and make a new device."};
    } catch (std::bad_alloc const&) {  // Then it does not say why.
      return speechless_;
    }
  }

  /// No thread waits for the device any more.
  void abandon() noexcept { abandoned_.store(true, std::memory_order_release); }
  bool abandoned() const noexcept { return abandoned_.load(std::memory_order_acquire); }

 private:
  std::optional<Error> why_;
  int code_ = 0;
  Error const speechless_{ErrorKind::device_lost,
                          "The CPU device is lost, and there is no memory to say why. End this run, and use less."};
  std::atomic<bool> abandoned_{false};  ///< Written with the mutex held.
};

}  // namespace penstock::cpu
