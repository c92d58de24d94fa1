// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cpu/operation.hpp"
#include "models/cost_on_model.hpp"
#include "models/device_model.hpp"

namespace penstock::cpu {

/// Sets the rates of the operations that take time now, linked by Modelled::next: copies and kernels share the link,
/// and the memory of the device.
///
/// Threads: under the scheduler's mutex.
void share_rates(Operation* active, DeviceModel const& model, CostOnModel const& cost) noexcept;

}  // namespace penstock::cpu
