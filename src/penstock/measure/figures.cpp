// SPDX-License-Identifier: Apache-2.0
#include "penstock/measure/figures.hpp"

namespace penstock::measure {

std::optional<double> lowest(Ceilings const& ceilings, Direction direction) {
  std::optional<double> least;
  auto const consider = [&](std::optional<double> const& one) {
    if (one && (!least || *one < *least)) least = one;
  };
  consider(direction == Direction::in    ? ceilings.upload
           : direction == Direction::out ? ceilings.download
                                         : ceilings.both);
  consider(ceilings.fill);
  consider(ceilings.kernel);
  return least;
}

}  // namespace penstock::measure
