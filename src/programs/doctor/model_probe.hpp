// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "models/device_model.hpp"
#include "penstock/device.hpp"
#include "penstock/flavour.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// Measures the data of a device's model: its link, its kernels, the cost of driver calls, and the delay until the host
/// learns of an end. Values that it does not measure are those of a GPU of today: blocks of a multiprocessor, and
/// arithmetic.
///
/// Blocks: a second or two.
/// Throws: Error, if the device has no memory for it or fails at it, or if `stop` was requested.
cpu::DeviceModel probe_model(Device& device, std::stop_token const& stop);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
