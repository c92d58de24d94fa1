// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "penstock/flavour.hpp"
#include "programs/measure/axis.hpp"

namespace penstock::measure {
inline namespace PENSTOCK_FLAVOUR {

/// The factor for these points: the largest of factor_for over some of them, each of which runs for a moment. `wishes`
/// are the values of `--device`, all of which leave it open. Empty if `stop` was requested.
///
/// Blocks: a second at most, and as long as points need to begin.
/// Throws: Error, if there is no such model.
std::optional<unsigned> choose_factor(std::span<std::string const> wishes, std::span<Point const> points,
                                      std::stop_token const& stop);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
