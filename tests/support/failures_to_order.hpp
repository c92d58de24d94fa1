// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace penstock::test {

/// Requests that a program linked with failures_to_order.cpp can have refused.
enum class Refusal {
  memory,    ///< Not oneTBB's, which does not survive it where an arena is made.
  messages,  ///< Memory of oneTBB for its messages and for whatever else it needs.
  threads
};

/// Refuses, from here on, the `nth` request of this process, once; counted from 1 and over all threads but those that
/// drive or serve a device: the device's own failures are its own tests' subject.
void refuse(Refusal what, std::size_t nth);
/// Refuses nothing from here on. True if something was refused.
bool refuse_nothing();

/// Runs `body` in a child process, which has a minute of CPU time and five minutes of the clock. Returns how it ended,
/// unless that was by returning 0.
std::string end_of_child(std::function<int()> const& body);

}  // namespace penstock::test
