// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "penstock/report/find_bound.hpp"
#include "penstock/report/utilisation.hpp"

namespace penstock {

/// A throughput, and what it is the limit of.
struct Limit {
  double tiles_per_second = 0;
  std::string of;
};

/// "uploads", "the source" and so on: what does the part's work.
std::string part_text(Bound part);

/// What the bound itself allows: the ceiling that was measured for it, or what it would come to without its pauses.
/// Empty if it is none of the parts.
std::optional<Limit> own_limit(Finding const& finding, Utilisation const& use);

/// What all else allows once the bound is lifted; empty if nothing is known of anything else. If the link is the bound,
/// one way, all else is but the link: what relieves one way mostly relieves both.
std::optional<Limit> next_limit(Finding const& finding, Utilisation const& use);

}  // namespace penstock
