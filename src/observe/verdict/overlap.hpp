// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/observe/recording.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// Time from `begin` to before `end`.
///
/// Units: nanoseconds.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  friend bool operator==(Interval const&, Interval const&) = default;
};

/// A set of times, stored as the smallest number of intervals: in order, none empty, no two that touch.
class Intervals {
 public:
  Intervals() = default;
  /// Makes the union of the intervals.
  ///
  /// Shape: in any order; empty or reversed intervals are ignored.
  explicit Intervals(std::vector<Interval> intervals);

  std::vector<Interval> const& all() const noexcept { return all_; }
  bool empty() const noexcept { return all_.empty(); }
  /// Units: nanoseconds.
  std::int64_t length() const noexcept;

  friend bool operator==(Intervals const&, Intervals const&) = default;

 private:
  std::vector<Interval> all_;
};

/// Union of two sets.
Intervals united(Intervals const& one, Intervals const& other);
/// Intersection of two sets.
Intervals common(Intervals const& one, Intervals const& other);

/// Concurrency of a device's work.
///
/// H, D and K are the times during which it uploaded, downloaded and computed, in any number of streams; |H| is the
/// total length, H u D the union, and H n D the intersection. Figures without meaning are empty.
struct Overlap {
  std::chrono::nanoseconds uploading{0};    ///< |H|
  std::chrono::nanoseconds downloading{0};  ///< |D|
  std::chrono::nanoseconds computing{0};    ///< |K|
  std::chrono::nanoseconds busy{0};         ///< |H u D u K|
  std::chrono::nanoseconds window{0};       ///< Time from the first start to the last end of any of them.
  std::chrono::nanoseconds shared{0};       ///< Time during which a stream that lanes share had work.

  /// max(|H|, |D|, |K|) / window: 1 if the busiest kind never paused, so that only less work could be faster. Empty if
  /// the device did no work.
  std::optional<double> speed_of_light = {};
  /// (|H| + |D| + |K| - busy) / (|H| + |D| + |K| - max(|H|, |D|, |K|)): 0 if no two kinds ever ran at once, 1 if all
  /// the shorter ones were hidden as far as possible behind the longest and each other. Empty with fewer than two
  /// kinds.
  std::optional<double> overlap = {};
  /// |H n D| / min(|H|, |D|): 1 if both directions of the link were used at once whenever possible. Empty if one
  /// direction was not used.
  std::optional<double> duplex = {};
};

/// Work of a device's lanes in a stream that they share.
///
/// Events around a step of one lane then also enclose work of others, so the step has no times.
enum class SharedStream : std::uint8_t {
  none,
  stage,  ///< Work of stages; copies have streams of their own.
  all,    ///< All work, so nothing overlaps.
};

/// The figures for a window that is at least as long: the time before the first start and after the last end counts as
/// a pause.
Overlap in_a_window(Overlap seen, std::chrono::nanoseconds window);

Overlap overlap_of(Intervals const& uploads, Intervals const& downloads, Intervals const& kernels);

/// Computes the device's figures from a recording. Passages that were missed were the last, so the figures are then of
/// the run's beginning. If not every tile was recorded, the times are those of the recorded tiles, and the three
/// figures are empty, since concurrent work is unknown. Steps in a shared stream count for that stream and not for
/// themselves: overlap is 0 if all of them are there, else empty.
Overlap overlap_of(Recording const& recording, SharedStream shared = SharedStream::none);

/// Device times of a recording; empty if the device did no work. Steps in a shared stream have none.
std::optional<DeviceTimes> device_times(Recording const& recording, SharedStream shared = SharedStream::none);

}  // namespace penstock
