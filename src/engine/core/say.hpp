// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock {

/// Passes a sentence to the message hook (error.hpp). It allocates nothing, and cuts a sentence at 1000 characters.
///
/// Threads: any, but not a callback of a device.
[[gnu::format(printf, 1, 2)]] void say(char const* format, ...) noexcept;

}  // namespace penstock
