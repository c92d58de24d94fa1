// SPDX-License-Identifier: Apache-2.0
// The exception of penstock.
#pragma once

#if __cplusplus <= 201703L
#error "penstock needs C++20: compile with -std=c++20."
#endif

#include <stdexcept>
#include <string>

namespace penstock {

/// Kind of a refusal or failure, for callers that must choose what to do next.
enum class ErrorKind {
  bad_argument,          ///< The caller asked for something impossible; the text says what to ask for instead.
  unsupported,           ///< This build or this device cannot do it.
  no_driver,             ///< No CUDA driver is installed or it does not answer.
  driver_too_old,        ///< The CUDA driver is older than the runtime of this build needs.
  no_device,             ///< There is no such GPU.
  out_of_device_memory,  ///< The device's memory is used up.
  out_of_pinned_memory,  ///< The host refused to pin that much memory.
  out_of_memory,         ///< The host's memory is used up.
  device_refused,        ///< One call was refused; the device is healthy and the next may succeed.
  device_lost,           ///< A sticky fault: every later call on this device fails too.
  system,                ///< The operating system refused; the text carries its words.
};

/// A violated contract or a failure, with a sentence that names the remedy.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string const& sentence) : std::runtime_error(sentence), kind_(kind) {}

  ErrorKind kind() const noexcept { return kind_; }
  /// True if the device serves no caller any more.
  bool sticky() const noexcept { return kind_ == ErrorKind::device_lost; }

 private:
  ErrorKind kind_;
};

}  // namespace penstock
