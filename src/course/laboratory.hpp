// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>

#include "penstock/device.hpp"
#include "penstock/flavour.hpp"
#include "penstock/models/devices.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// `wish`, which names devices as open_devices takes them; for models with the factor that suits this machine, unless
/// it says one. Then it tells on standard error which factor that is.
///
/// Blocks: as choose_factor.
/// Throws: likewise.
std::string paced_laboratory(std::string const& wish, std::stop_token const& stop);

/// Opens devices as open_devices does, but for the CPU devices. One name is taken twice, if that is wanted and
/// possible.
Devices open_laboratory(std::string wish, bool wants_two);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
