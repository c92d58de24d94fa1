// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/device/build_flavour.hpp"
#include "tools/measure/setting.hpp"
#include "tools/measure/trial.hpp"
#include "tools/tune/landscape.hpp"

namespace penstock::measure {
inline namespace PENSTOCK_FLAVOUR {

/// How long a search for what is `sought` runs a setting, by the effort.
///
/// With `graphs_chosen`, which is that it chooses among several values of graphs, settings that may capture get time to
/// do so in all of their slots: else `never` would win because the others were measured while they captured.
TrialOptions trial_options(Effort effort, Setting const& setting, bool graphs_chosen, Aim sought = Aim::throughput);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
