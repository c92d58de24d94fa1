// SPDX-License-Identifier: Apache-2.0
#include "penstock/measure/effort.hpp"

namespace penstock::measure {
inline namespace PENSTOCK_FLAVOUR {

TrialOptions trial_options(Effort effort, Setting const& setting, bool graphs_chosen) {
  using std::chrono::milliseconds;
  // The captures of 512 slots take some 24 ms a lane.
  constexpr milliseconds longest_settling{100};
  TrialOptions options{.warm_up = milliseconds(10), .window = milliseconds(40)};
  if (effort == Effort::look) {
    options.warm_up = milliseconds(20);
    options.window = milliseconds(120);
  }
  if (graphs_chosen && setting.graphs != Graphs::never) options.settling = longest_settling;
  return options;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
