// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::lab {

/// Unit that does a step. Each does one at a time.
enum class Unit : std::uint8_t { host, up, compute, down };

/// A step of some work, in the order of issue.
struct PlannedWork {
  Unit unit = Unit::compute;
  std::chrono::nanoseconds time{};  ///< Time of the step by itself.
  std::vector<std::size_t> after;   ///< Earlier steps that it waits for.
};

/// Copy engines of a device.
struct CopyEngines {
  int count = 2;                   ///< 1: uploads and downloads share one; 2 or more: each direction has its own.
  bool in_order_of_issue = false;  ///< Each takes its copies in that order; otherwise as they become ready.
  bool known = true;               ///< False if the host was late each time, so that the order is unknown.
};

/// Times when a step would begin and end.
struct Planned {
  std::chrono::nanoseconds start{};
  std::chrono::nanoseconds end{};
};

/// The times at which each step would run, if calls cost nothing and each step began once all that it waits for is over
/// and its unit is free. Steps that wait for a unit run in the order in which they became ready. The host goes in order
/// of issue.
std::vector<Planned> plan(std::span<PlannedWork const> steps, CopyEngines engines);
/// Time that all of it would take then.
std::chrono::nanoseconds possible(std::span<PlannedWork const> steps, CopyEngines engines);
/// Time that it takes one step after another.
std::chrono::nanoseconds serial(std::span<PlannedWork const> steps);

}  // namespace penstock::lab
