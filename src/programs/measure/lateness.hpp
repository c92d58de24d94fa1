// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/core/too_slow.hpp"
#include "penstock/device.hpp"

namespace penstock::measure {

/// Number of tries of what is measured, if a clock was late: a machine that was busy for a moment may not be the next
/// time.
inline constexpr int tries_on_late_clock = 2;

/// The remark that this machine was too slow for the clock of one of these models since they were last asked; or empty.
inline std::string lateness_of(DeviceGroup const& devices) {
  std::string late;
  for (Device* const device : devices.all()) keep_too_slow(device->remarks(), late);
  return late;
}

/// Has models count anew how late this machine is: in a warm-up memory is touched for the first time.
inline void forget_lateness(DeviceGroup const& devices) {
  for (Device* const device : devices.all())
    if (device->info().modelled) static_cast<void>(device->remarks());
}

}  // namespace penstock::measure
