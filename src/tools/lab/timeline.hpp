// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

namespace penstock::lab {

/// When one piece of work ran. All intervals of an observation are on one clock.
struct Interval {
  std::string row;    ///< Where: a stream, a thread.
  std::string label;  ///< What.
  std::chrono::nanoseconds start{};
  std::chrono::nanoseconds end{};

  std::chrono::nanoseconds length() const noexcept { return end - start; }
};

/// For how long both ran; 0 or less if one had ended when the other started.
std::chrono::nanoseconds together(Interval const& one, Interval const& other);
/// True if `first` had ended when `second` started.
bool before(Interval const& first, Interval const& second);

/// Moves all of them in time, so that the first to start does so at 0.
void start_at_zero(std::span<Interval> intervals);

/// "20.1 ms", "430 us", "1.25 s".
std::string time_text(std::chrono::nanoseconds time);

/// Draws intervals as lines of at most `columns` characters: a line for each row in the order in which the rows first
/// appear, time to the right, and last an axis that says how long it all took.
///
/// An interval is as wide as it is long, but always seen; a label that does not fit stands beside it, if there is room.
/// What runs in one row at the same time is drawn over each other, the later one on top.
///
/// Shape: columns is at least `narrowest`, or counts as that.
std::vector<std::string> draw(std::span<Interval const> intervals, std::size_t columns);

inline constexpr std::size_t narrowest = 40;

}  // namespace penstock::lab
