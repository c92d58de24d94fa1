// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "penstock/device.hpp"
#include "penstock/flavour.hpp"
#include "tools/measure/figures.hpp"
#include "tools/measure/filler.hpp"

namespace penstock::measure {

inline namespace PENSTOCK_FLAVOUR {

/// Measures them, each for `each`, with as many threads as keep the devices busy, all devices at once.
/// `setting.pipeline.batch` is how many tiles the run puts on a device at once: copies are then measured for one tile
/// and for as many, and kernels for as many; no copies if it maps all tiles. Filling is from `file` or `memory`, as a
/// Filler takes them.
///
/// Blocks: until done.
/// Throws: Error, if a device has no memory for it or fails.
Ceilings measure_ceilings(DeviceGroup const& devices, Setting const& setting, unsigned producers,
                          std::string const& file, std::chrono::nanoseconds each, std::stop_token const& stop,
                          FillMemory* memory = nullptr);

/// Measures what the links of all devices at once do with large copies, `link_up` and `link_down`, as far as the
/// direction has them: each way alone, for `each`.
///
/// Blocks: until done.
/// Throws: as measure_ceilings.
Ceilings measure_link(DeviceGroup const& devices, Direction direction, std::chrono::nanoseconds each,
                      std::stop_token const& stop);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
