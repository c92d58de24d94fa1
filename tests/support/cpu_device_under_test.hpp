// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/device_contract.hpp"

namespace penstock::support {

/// The CPU device, with threads enough for as many holds as a contract makes at once. It is "Cpu" or "CpuLegacy".
DeviceUnderTest cpu_device_under_test(Flavour flavour = Flavour::per_thread);

}  // namespace penstock::support
