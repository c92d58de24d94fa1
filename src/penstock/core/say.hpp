// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock {

/// Hands a sentence to the message hook (messages.hpp). It takes no memory, and cuts what is longer than 1000
/// characters.
///
/// Threads: any, but no callback of a device's.
[[gnu::format(printf, 1, 2)]] void say(char const* format, ...) noexcept;

}  // namespace penstock
