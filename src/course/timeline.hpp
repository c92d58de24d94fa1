// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace penstock::lab {

/// Unit of a device that does a piece of work.
enum class Engine : std::uint8_t { none, up, kernels, down };

/// Start and end of one piece of work. All intervals of an observation are on one clock.
struct Interval {
  std::string row;    ///< Place of the work: a stream, a thread.
  std::string label;  ///< Name of the work.
  std::chrono::nanoseconds start{};
  std::chrono::nanoseconds end{};
  Engine engine = Engine::none;

  std::chrono::nanoseconds length() const noexcept { return end - start; }
};

/// Time for which both ran; 0 or less if one had ended when the other started.
std::chrono::nanoseconds together(Interval const& one, Interval const& other);
/// True if `first` had ended when `second` started.
bool before(Interval const& first, Interval const& second);

/// Moves all of them in time, so that the first to start does so at 0.
void start_at_zero(std::span<Interval> intervals);

/// The same intervals with rows of the engines behind those of the streams: "copies up", "kernels" and "copies down".
/// Labels in these are the last words of the streams' rows, and a piece that waited for its engine begins when that was
/// free. Nothing is added unless all three were used.
std::vector<Interval> with_engines(std::span<Interval const> intervals);

/// Time from the start of the first to the end of the last.
///
/// Shape: at least one.
std::chrono::nanoseconds extent(std::span<Interval const> intervals);

/// "20.1 ms", "430 us", "1.25 s".
std::string time_text(std::chrono::nanoseconds time);

/// Draws intervals as lines of at most `columns` characters: a line for each row in the order in which the rows first
/// appear, time to the right, and last an axis with the total time.
///
/// An interval is as wide as it is long, but always visible; a label that does not fit stands beside it, if there is
/// room. Intervals of one row at the same time are drawn over each other, the later one on top.
///
/// Shape: columns is at least `narrowest`, or counts as that.
std::vector<std::string> draw(std::span<Interval const> intervals, std::size_t columns);

inline constexpr std::size_t narrowest = 40;

/// A measured value that is reported, and judged only if it is certain.
struct Figure {
  std::string what;
  double value = 0;
  std::string unit;
  /// Value that a text has for it, in the experiment's times.
  std::optional<double> text = {};
  /// Value that the measured times of the parts allow.
  std::optional<double> possible = {};
  std::string bound = {};  ///< Half a sentence on what it waited for, or nothing.
  /// Further columns of its row, by their headings. Figures that stand together have the same.
  std::vector<std::pair<std::string, std::string>> beside = {};
  std::string heading = "measured";  ///< Heading of the value, where it stands in a table.

  bool in_table() const noexcept { return text || possible || !beside.empty(); }
};

/// Says if an experiment went as expected, with the measured fact that shows it: half a sentence.
struct Verdict {
  bool as_expected = false;
  std::string fact;
  bool disproved = false;  ///< A correct device never does what was seen: another try makes no difference.
  bool late = false;       ///< This machine was too slow for the clock of a model, so times have no meaning.
};

/// Returns the verdict, but one that is not as expected counts as disproved.
Verdict certainly(Verdict verdict);
/// Returns the verdict of a run on a late clock: one that is neither as expected nor disproved is marked late.
Verdict by_late_clock(Verdict verdict);

/// Expects each to start only after the one before it had ended.
///
/// Shape: in the order that is expected; at least two.
Verdict one_after_another(std::span<Interval const> intervals);
/// Expects a moment at which all of them ran.
///
/// Shape: at least two.
Verdict all_at_once(std::span<Interval const> intervals);
/// Expects `one` to start when all `earlier` had ended, and all `later` when it had ended.
Verdict stands_between(std::span<Interval const> earlier, Interval const& one, std::span<Interval const> later);
/// Expects `urgent` to start before at least one of `patient`, all of which were given to the device before it.
Verdict overtakes(Interval const& urgent, std::span<Interval const> patient);
/// A verdict that is as expected if both are; it has the facts of both.
Verdict both(Verdict const& one, Verdict const& other);

}  // namespace penstock::lab
