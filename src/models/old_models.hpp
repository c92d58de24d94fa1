// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/device_model.hpp"

namespace penstock {

/// Models of cards of 2008 to 2012, on which the order of issue counts. What no source states is that of the H200.
cpu::DeviceModel model_of_k20c(cpu::DeviceModel const& h200);
cpu::DeviceModel model_of_c2050(cpu::DeviceModel const& h200);
cpu::DeviceModel model_of_c1060(cpu::DeviceModel const& h200);

}  // namespace penstock
