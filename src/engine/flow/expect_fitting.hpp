// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/tile.hpp"

namespace penstock {

/// Checks that a stage is one for tiles of this shape, as far as both are known.
///
/// Throws: Error of kind bad_argument, if the stage has more inputs than the tiles, or takes numbers for numbers of
/// another kind or size.
void expect_fitting(TileTypes const& stage, TileShape const& shape);
/// Checks the same of the inputs that a source fills.
///
/// Throws: as expect_fitting.
void expect_filling(TileTypes const& source, TileShape const& shape);

}  // namespace penstock
