// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hwloc.h>

#include "engine/lane/lane.hpp"

struct Tile {};
