// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/device/device_contract.hpp"

namespace penstock::support {

/// The CPU device, with enough threads for as many holds as a contract makes at once. It is "Cpu" or "CpuLegacy".
DeviceUnderTest cpu_device_under_test(Flavour flavour = Flavour::per_thread);
/// The CPU device as a modelled GPU, on this machine's clock. It is fast, so that tests do not take long.
DeviceUnderTest modelled_gpu_under_test();

}  // namespace penstock::support
