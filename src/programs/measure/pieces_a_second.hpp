// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stop_token>

namespace penstock::measure {

/// Calls `worker` to make a function for each of `threads` threads, which repeats it until the time is over; returns
/// the total rate over all threads, for a second. A warm-up of an eighth of the time comes first; then `warmed_up` is
/// called, which may be empty.
///
/// Threads: each calls `worker` with its number, and then the function that it got; the first calls `warmed_up`.
/// Blocks:  until done, or until `stop` is requested.
/// Throws:  what a thread threw, or Error of kind system, if one cannot be started.
double pieces_a_second(unsigned threads, std::chrono::nanoseconds each, std::stop_token const& stop,
                       std::function<std::function<std::size_t()>(unsigned)> const& worker,
                       std::function<void()> const& warmed_up = {});

}  // namespace penstock::measure
