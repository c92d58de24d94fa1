// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stop_token>

#include "penstock/device/build_flavour.hpp"
#include "penstock/device/device_group.hpp"
#include "penstock/measure/setting.hpp"
#include "penstock/measure/trial.hpp"
#include "penstock/report/verdict.hpp"

namespace penstock::measure {

inline namespace PENSTOCK_FLAVOUR {

/// Runs the setting for a moment, with every tile recorded, and judges that, without ceilings. Empty, if `stop` was
/// requested or no tile came.
///
/// Blocks: for 70 ms, and what it takes to pin, start and end.
/// Throws: as run_trial.
std::optional<Verdict> judged_run(DeviceGroup const& devices, Setting const& setting, TrialOptions options,
                                  unsigned cpus, std::stop_token const& stop);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
