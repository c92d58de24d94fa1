// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stop_token>

#include "penstock/device.hpp"
#include "penstock/flavour.hpp"
#include "tools/measure/figures.hpp"
#include "tools/measure/filler.hpp"
#include "tools/measure/setting.hpp"

namespace penstock::measure {

inline namespace PENSTOCK_FLAVOUR {

/// Measures them, each for `each`, with as many threads as keep the devices busy, all devices at once.
/// `setting.pipeline.batch` is how many tiles the run puts on a device at once: copies are then measured for one tile
/// and for as many, and kernels for as many; no copies if it maps all tiles. Of kernel and filling, those that the job
/// says can be measured alone. Of a tile's parts the largest counts. `memory` is as work_of takes it.
///
/// Blocks: until done.
/// Throws: Error, if a device has no memory for it or fails.
Ceilings measure_ceilings(DeviceGroup const& devices, Setting const& setting, unsigned producers,
                          std::chrono::nanoseconds each, std::stop_token const& stop, FillMemory* memory = nullptr);

/// Measures what the links of all devices at once do with large copies, `link_up` and `link_down`, as far as the
/// direction has them: each way alone, for `each`.
///
/// Blocks: until done.
/// Throws: as measure_ceilings.
Ceilings measure_link(DeviceGroup const& devices, Direction direction, std::chrono::nanoseconds each,
                      std::stop_token const& stop);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
