// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/device/device_contract.hpp"

namespace penstock::support {

/// The first GPU. Its tests are skipped if there is none.
DeviceUnderTest gpu_under_test();

}  // namespace penstock::support
