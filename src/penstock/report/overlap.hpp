// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/recording.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// From `begin` up to `end`, without the latter.
///
/// Units: nanoseconds.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  friend bool operator==(Interval const&, Interval const&) = default;
};

/// A set of moments, kept as the fewest intervals that make it up: in order, none empty, no two that touch.
class Intervals {
 public:
  Intervals() = default;
  /// The moments of all of them together.
  ///
  /// Shape: in any order; one that ends where it begins, or earlier, counts as nothing.
  explicit Intervals(std::vector<Interval> intervals);

  std::vector<Interval> const& all() const noexcept { return all_; }
  bool empty() const noexcept { return all_.empty(); }
  /// Units: nanoseconds.
  std::int64_t length() const noexcept;

  friend bool operator==(Intervals const&, Intervals const&) = default;

 private:
  std::vector<Interval> all_;
};

/// The moments of either.
Intervals united(Intervals const& one, Intervals const& other);
/// The moments of both.
Intervals common(Intervals const& one, Intervals const& other);

/// How much of what a device did it did at once.
///
/// H, D and K are the moments at which it uploaded, downloaded and computed, whatever of these in however many streams;
/// |H| is how long that was in all, H u D either and H n D both. A figure that would mean nothing is empty.
struct Overlap {
  std::chrono::nanoseconds uploading{0};    ///< |H|
  std::chrono::nanoseconds downloading{0};  ///< |D|
  std::chrono::nanoseconds computing{0};    ///< |K|
  std::chrono::nanoseconds busy{0};         ///< |H u D u K|
  std::chrono::nanoseconds window{0};       ///< From the first start to the last end of any of them.
  std::chrono::nanoseconds shared{0};       ///< For how long a stream that lanes share had work.

  /// max(|H|, |D|, |K|) / window: 1 if the busiest kind never paused, so that only less work could be faster.
  /// Empty if the device did nothing.
  std::optional<double> speed_of_light = {};
  /// (|H| + |D| + |K| - busy) / (|H| + |D| + |K| - max(|H|, |D|, |K|)): 0 if no two kinds ever ran at once, 1 if all
  /// the shorter ones hid behind the longest and in each other as far as they could. Empty with fewer than two kinds.
  std::optional<double> overlap = {};
  /// |H n D| / min(|H|, |D|): 1 if both directions of the link were used at once whenever they could be. Empty if
  /// nothing went one of the ways.
  std::optional<double> duplex = {};
};

/// What the lanes of a device do in a stream that all of them have in common.
///
/// Events around a step of one lane then also have the work of others between them, so such a step has no times.
enum class SharedStream : std::uint8_t {
  none,
  stage,  ///< What stages give to the device; copies have streams of their own.
  all,    ///< All they do, so nothing overlaps.
};

/// The same device in a window that is at least as long: what lies before its first start and behind its last end is a
/// pause like others.
Overlap in_a_window(Overlap seen, std::chrono::nanoseconds window);

Overlap overlap_of(Intervals const& uploads, Intervals const& downloads, Intervals const& kernels);

/// The device's part of a recording. Passages that were missed were the last, so the figures are then of the run's
/// beginning. If not every tile was looked at, the times are those of the tiles that were, and the three figures are
/// empty: what ran beside was not seen. Steps in a shared stream count for that stream and not as theirs: overlap is 0
/// if all of them are there, and else empty.
Overlap overlap_of(Recording const& recording, SharedStream shared = SharedStream::none);

/// Of a recording in which a device did something; empty if it did nothing. Of steps in a shared stream there is none.
std::optional<DeviceTimes> device_times(Recording const& recording, SharedStream shared = SharedStream::none);

}  // namespace penstock
