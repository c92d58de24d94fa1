// SPDX-License-Identifier: Apache-2.0
// What the library says where no call could tell its caller.
#pragma once

#include <string_view>

namespace penstock {

/// Takes a sentence about something that went wrong in a destructor or on a thread of the library: what a call can
/// throw, and what a report or a completion can carry, is never said here.
///
/// Threads: any, several at once; also while the process exits. It must not call penstock.
/// Shape:   `sentence` has neither line break nor "penstock: "; it is gone once the hook returns.
using MessageHook = void (*)(std::string_view sentence) noexcept;

/// Writes "penstock: " and the sentence to standard error: the hook unless another is set.
void write_to_standard_error(std::string_view sentence) noexcept;

/// Has the messages of this process go to `hook`, or nowhere if it is null. Gives the hook that there was.
///
/// A hook is for the process, since what has messages is made and destroyed without a pipeline: a pool, a thread, a
/// CUDA stream. It is a function, and no object, so there is none that could die before a message is said
/// (decisions/0063).
/// Threads: any.
MessageHook set_message_hook(MessageHook hook) noexcept;

}  // namespace penstock
