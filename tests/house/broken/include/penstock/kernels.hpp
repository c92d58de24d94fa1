// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/tile.hpp"
