// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>

#include "penstock/device/build_flavour.hpp"
#include "penstock/device/device_group.hpp"
#include "tools/measure/meter.hpp"
#include "tools/measure/trial.hpp"

namespace penstock::measure {
inline namespace PENSTOCK_FLAVOUR {

/// What part of its throughput a pipeline keeps when one in `every` of its tiles is recorded, by `pairs` of runs with
/// and without, in turn. Empty, if `stop` was requested, or if tiles were more than can be recorded.
///
/// Blocks: for all runs.
/// Throws: Error, as run_trial.
std::optional<Spread> kept_when_traced(DeviceGroup const& devices, Setting const& setting, TrialOptions const& options,
                                       std::uint64_t every, unsigned pairs, std::stop_token const& stop);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
