// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is computed on a tile: `Stage`, `Stages`, `each_tile`, `elementwise`, `stage_per_lane`, `DeviceTile`.
#include "penstock/lane/stage.hpp"
