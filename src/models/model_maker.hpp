// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/device.hpp"

namespace penstock {

/// Makes the CPU device as a model of a GPU, by names such as "model:h200" (docs/models.md). It lives as long as the
/// process.
DeviceMaker const* model_maker() noexcept;

}  // namespace penstock
