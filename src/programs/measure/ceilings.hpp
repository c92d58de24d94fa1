// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "penstock/device.hpp"
#include "penstock/flavour.hpp"
#include "programs/measure/figures.hpp"
#include "programs/measure/filler.hpp"
#include "programs/measure/setting.hpp"

namespace penstock::measure {

/// Ceilings, and whether a model's clock was in time for them.
struct MeasuredCeilings {
  Ceilings ceilings;
  /// The remark on a clock that was late for a part in each try: that part, and those that were left out then, are not
  /// known. Empty if there was none.
  std::string late = {};
};

inline namespace PENSTOCK_FLAVOUR {

/// Measures the ceilings, each for `each`, with as many threads as keep the devices busy, all devices at once.
/// `setting.pipeline.batch` is the number of tiles that the run puts on a device at once: copies are then measured for
/// one tile and for that number, of a model for that number alone, and kernels for that number; no copies if it maps
/// all tiles. Kernel and filling are measured if the job says that they can be measured alone. The largest part of a
/// tile counts. `memory` is as for work_of.
///
/// Of a model, a part for which the clock was late counts if it is far above the copies all the same, as PartsInTime
/// says: it reaches at least that.
///
/// Blocks: until done.
/// Throws: Error, if a device has no memory for it or fails.
MeasuredCeilings measure_ceilings(DeviceGroup const& devices, Setting const& setting, unsigned producers,
                                  std::chrono::nanoseconds each, std::stop_token const& stop,
                                  FillMemory* memory = nullptr);

/// Measures the rate of the links of all devices at once with large copies, `link_up` and `link_down`, in the
/// directions of `direction`: each way alone, for `each`.
///
/// Blocks: until done.
/// Throws: as measure_ceilings.
MeasuredCeilings measure_link(DeviceGroup const& devices, Direction direction, std::chrono::nanoseconds each,
                              std::stop_token const& stop);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
