// SPDX-License-Identifier: Apache-2.0
#include "penstock/measure/judged_run.hpp"

#include <algorithm>
#include <chrono>

#include "penstock/core/recorder.hpp"
#include "penstock/measure/judge.hpp"
#include "penstock/report/stretch.hpp"

namespace penstock::measure {
inline namespace PENSTOCK_FLAVOUR {

std::optional<Verdict> judged_run(DeviceGroup const& devices, Setting const& setting, TrialOptions options,
                                  unsigned cpus, std::stop_token const& stop) {
  // More than the smallest tiles of the fastest device need in so short a run.
  Recorder recorder({.capacity = std::size_t{1} << 19});
  options.warm_up = std::min<std::chrono::nanoseconds>(options.warm_up, std::chrono::milliseconds(20));
  options.window = std::min<std::chrono::nanoseconds>(options.window, std::chrono::milliseconds(50));
  options.recorder = &recorder;
  auto const trial = run_trial(devices, setting, options, stop);
  if (!trial || trial->metered.tiles <= 0) return std::nullopt;
  Recording const window =
      within(recorder.take(), recorder.since_start(trial->metered.opened), recorder.since_start(trial->metered.closed));
  return judge(figures_of(setting, *trial, window, devices.front(), cpus));
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
