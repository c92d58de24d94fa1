// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is computed on a tile: `Stage`, `Stages`, `on_device`, `Promises`, `stage_per_lane`, `DeviceTile`,
/// `DeviceTileOf`.
#include "penstock/lane/stage.hpp"
