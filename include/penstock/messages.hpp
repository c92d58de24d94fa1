// SPDX-License-Identifier: Apache-2.0
// Messages of the library that have no caller to go to.
#pragma once

#include <string_view>

namespace penstock {

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
