// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hwloc.h>

#include "penstock/lane/lane.hpp"

struct Tile {};
