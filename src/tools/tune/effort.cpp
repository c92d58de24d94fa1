// SPDX-License-Identifier: Apache-2.0
#include "tools/tune/effort.hpp"

namespace penstock::measure {
inline namespace PENSTOCK_FLAVOUR {

TrialOptions trial_options(Effort effort, Setting const& setting, bool graphs_chosen, Aim sought) {
  using std::chrono::milliseconds;
  // The captures of 512 slots take some 24 ms a lane.
  constexpr milliseconds longest_settling{100};
  // A hundredth of the tiles says less than all of them.
  bool const latency = sought == Aim::latency;
  TrialOptions options{.warm_up = milliseconds(10), .window = milliseconds(latency ? 100 : 40)};
  if (effort == Effort::look) {
    options.warm_up = milliseconds(20);
    options.window = milliseconds(latency ? 300 : 120);
  }
  // A pipeline that is half a second late has a queue that grows.
  if (latency) options.most_late = milliseconds(500);
  if (graphs_chosen && setting.graphs != Graphs::never) options.settling = longest_settling;
  return options;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
