// SPDX-License-Identifier: Apache-2.0
// The exception of penstock, and messages that have no caller to go to.
#pragma once

#if __cplusplus <= 201703L
#error "penstock needs C++20: compile with -std=c++20."
#endif

#include <stdexcept>
#include <string>
#include <string_view>

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

/// A function that gets a sentence about an error in a destructor or on a thread of the library. It never gets an error
/// that a call throws, or that a report or a completion has.
///
/// Shape:   `sentence` has no line break and no "penstock: " before it. It is valid until the hook returns.
/// Threads: any, several at once, also while the process exits. The hook must not call penstock.
using MessageHook = void (*)(std::string_view sentence) noexcept;

/// Writes "penstock: ", the sentence and a line break to standard error. This is the hook until another one is set.
///
/// Threads: any.
/// Blocks:  as a write to standard error does.
void write_to_standard_error(std::string_view sentence) noexcept;

/// Sets the hook of this process; null drops all messages.
///
/// There is one hook for the process, because objects that have messages exist without a pipeline: a pool, a thread, a
/// CUDA stream. The hook is a function and not an object, because an object could be destroyed before the last message
/// (docs/decisions/operation.md).
///
/// Threads: any. A message that another thread is sending may still go to the hook before.
/// Returns: the hook before.
MessageHook set_message_hook(MessageHook hook) noexcept;

}  // namespace penstock
