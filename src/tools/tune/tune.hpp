// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "penstock/device/build_flavour.hpp"
#include "penstock/device/device_group.hpp"
#include "tools/tune/free_axes.hpp"
#include "tools/tune/tuned.hpp"

namespace penstock::measure {

struct TuneOptions {
  Aim sought = Aim::throughput;
  /// For latency: of the throughput of the first setting that works, which mostly are the defaults. Tiles come as fast
  /// to all settings, so that a slow one does not get an easier load.
  double load = 0.5;
  /// Of every axis of a Setting: values to choose from, or "free".
  AxisLists lists = {};
  SearchBounds bounds = {};
  /// Of a setting that is known to be good, values by axis: of those that are free it is tried, too.
  AxisLists known = {};
  double within = 60;     ///< Seconds.
  std::string file = {};  ///< For Fill::file.
};

inline namespace PENSTOCK_FLAVOUR {

/// Looks for the setting that moves most bytes a second through these devices, or has the least latency: docs/tune.md
/// says how. A setting that fails is passed over, and so are those that pin more than the bounds allow.
///
/// Blocks: for `within` seconds or less.
/// Throws: Error, if a list is not valid, if there is no load, or if a device is lost.
Tuned tune(DeviceGroup const& devices, TuneOptions const& options, std::stop_token const& stop,
           std::function<void(TuneProgress const&)> const& progress = {});

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
