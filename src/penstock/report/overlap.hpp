// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/recorder.hpp"
#include "penstock/report/run_figures.hpp"

namespace penstock {

/// From `begin` up to `end`, without the latter.
///
/// Units: nanoseconds.
struct Stretch {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  friend bool operator==(Stretch const&, Stretch const&) = default;
};

/// A set of moments, kept as the fewest stretches that make it up: in order, none empty, no two that touch.
class Intervals {
 public:
  Intervals() = default;
  /// The moments of all of them together.
  ///
  /// Shape: in any order; one that ends where it begins, or earlier, counts as nothing.
  explicit Intervals(std::vector<Stretch> stretches);

  std::vector<Stretch> const& stretches() const noexcept { return stretches_; }
  bool empty() const noexcept { return stretches_.empty(); }
  /// Units: nanoseconds.
  std::int64_t length() const noexcept;

  friend bool operator==(Intervals const&, Intervals const&) = default;

 private:
  std::vector<Stretch> stretches_;
};

/// The moments of either.
Intervals united(Intervals const& one, Intervals const& other);
/// The moments of both.
Intervals common(Intervals const& one, Intervals const& other);

/// The same device in a window that is at least as long: what lies before its first start and behind its last end is a
/// pause like others.
Overlap in_a_window(Overlap seen, std::chrono::nanoseconds window);

Overlap overlap_of(Intervals const& uploads, Intervals const& downloads, Intervals const& kernels);

/// The device's part of a recording. Passages that were missed were the last, so the figures are then of the run's
/// beginning. If not every tile was looked at, the times are those of the tiles that were, and the three figures are
/// empty: what ran beside was not seen.
Overlap overlap_of(Recording const& recording);

/// Of a recording in which a device did something; empty if it did nothing.
std::optional<DeviceTimes> device_times(Recording const& recording);

}  // namespace penstock
