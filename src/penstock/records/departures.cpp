// SPDX-License-Identifier: Apache-2.0
#include "penstock/records/departures.hpp"

#include "penstock/records/departures_steps.hpp"
#include "penstock/records/departures_watch.hpp"

namespace penstock {

template class BasicDepartures<StandardAtomics>;

}  // namespace penstock
