// SPDX-License-Identifier: Apache-2.0
#include "penstock/core/tile.hpp"

#include "penstock/core/error.hpp"

namespace penstock {

void expect_filled_fits(Tile const& tile, std::string const& who) {
  if (tile.filled <= tile.input().size()) return;
  throw Error(ErrorKind::bad_argument, who + " says that it filled " + std::to_string(tile.filled) +
                                           " bytes of a tile that holds " + std::to_string(tile.input().size()) +
                                           ": make the tiles larger, or fill them in parts.");
}

}  // namespace penstock
