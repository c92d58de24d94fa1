// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stop_token>

namespace penstock::measure {

/// Has `worker` make what each of so many threads does again and again, until the time is over; what that gives, over
/// all threads, for a second. Before it counts they do so for an eighth of the time.
///
/// Threads: each calls `worker` with its number, and then what it got.
/// Blocks:  until done, or until `stop` is requested.
/// Throws:  what a thread threw, or Error of kind system, if one cannot be started.
double pieces_a_second(unsigned threads, std::chrono::nanoseconds each, std::stop_token const& stop,
                       std::function<std::function<std::size_t()>(unsigned)> const& worker);

}  // namespace penstock::measure
