// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "contest.hpp"

namespace baselines {

/// Text for people: a table for each size, and penstock's result against the best baseline.
std::string contest_text(std::vector<SizeResult> const& results);
/// The same as data, with every round.
std::string contest_json(std::vector<SizeResult> const& results, penstock::DeviceInfo const& device);

}  // namespace baselines
