// SPDX-License-Identifier: Apache-2.0
// The exception of penstock, messages that have no caller to go to, and input that a run did not pass on or could not
// use, with the reasons.
#pragma once

#if __cplusplus <= 201703L
#error "penstock needs C++20: compile with -std=c++20."
#endif
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

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
  ended,                 ///< The pipeline takes no more tiles: it was stopped or drained, or lost its devices.
  program,               ///< A function of a program in C failed; the text carries its reason.
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

/// Input of one kind that a run did not pass on or could not use, for one reason.
struct LeftOut {
  std::string unit;         ///< The unit counted, in the singular: "record", "file", "packet".
  std::string reason;       ///< The reason, as words that can follow a comma: "too long for a tile".
  std::uint64_t count = 0;  ///< Number of units.
  std::uint64_t bytes = 0;  ///< Total size of these units in bytes; 0 if not known.
  std::string remedy = {};  ///< The remedy, as words without a full stop: "make tiles larger"; empty if nothing helps.
  /// True if the input did not reach the results. False if the results count it as input that could not be used, as
  /// a row `other` does.
  bool lost = true;

  bool operator==(LeftOut const&) const = default;
};

/// Adds `more` to `all`: entries that differ only in their numbers become one, and entries that count nothing are left
/// out.
void add_left_out(std::vector<LeftOut>& all, std::span<LeftOut const> more);

/// True if any entry is of input that did not reach the results.
bool any_lost(std::span<LeftOut const> all) noexcept;

/// All entries in one line: "Left out: 2 records (3.1 KiB), too long for a tile: make tiles larger; 1 file, ...". Empty
/// if there are none.
std::string describe(std::span<LeftOut const> all);

}  // namespace penstock
