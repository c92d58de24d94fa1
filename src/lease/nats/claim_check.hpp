// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "penstock/lease/ledger.hpp"

namespace penstock {

/// The work that a claim check names (NatsClaims); nothing, if this is none.
///
/// Threads: any.
std::optional<LeaseWork> claim_check(std::string_view message);

}  // namespace penstock
