// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "penstock/recorder.hpp"
#include "penstock/report/overlap.hpp"

namespace penstock {

/// What a tile takes of a device, and what it gains that the device does several things at once.
///
/// H, D and K are as in Overlap.
/// Units: seconds; the mean of all tiles that were looked at. Empty, if there were none in that step.
struct DeviceTimes {
  std::optional<double> upload = {};
  std::optional<double> kernel = {};
  std::optional<double> download = {};
  std::optional<double> overlap = {};  ///< As in Overlap.
  /// (|H| + |D| + |K|) / max(|H|, |D|, |K|): how many times as fast as one kind after the other it would be if the
  /// shorter ones hid behind the longest. Empty if not every tile was looked at.
  std::optional<double> possible_speedup = {};
  /// (|H| + |D| + |K|) / |H u D u K|: how many times as fast it was, while it did anything. Empty likewise.
  std::optional<double> speedup = {};
};

/// Of a recording in which a device did something; empty if it did nothing.
std::optional<DeviceTimes> device_times(Recording const& recording);

/// In a line, for a person.
std::string describe(DeviceTimes const& times);

}  // namespace penstock
