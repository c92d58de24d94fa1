// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/device_contract.hpp"

namespace penstock::support {

/// The first GPU. Where there is none its tests are skipped.
DeviceUnderTest gpu_under_test();

}  // namespace penstock::support
