// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/device/build_flavour.hpp"
#include "penstock/lane/stage.hpp"
#include "tools/measure/setting.hpp"

namespace penstock::measure {
inline namespace PENSTOCK_FLAVOUR {

/// Stages that do what the setting's `work` says, on the lane's stream.
Stages work_stages(Setting const& setting);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
