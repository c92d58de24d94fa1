// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock::simulation {

/// Looks at the machines of the scenarios, and at this one's limits. From here on Topology::detect and HostLimits::read
/// answer from what was seen, since to look takes longer than a run, and is no part of it.
void look_at_machines();

}  // namespace penstock::simulation
